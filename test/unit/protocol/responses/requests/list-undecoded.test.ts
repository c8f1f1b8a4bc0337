import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../../../src/catalogue/estimate-tokens.ts';
import { readRequest } from '../../../../../src/gateway/read-request.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';
import { keepSealed, SEALED_BEGINNING } from '../../../../../src/protocol/sealed-reasoning.ts';
import { dialectOf } from '../../../../../src/upstream/upstream-dialect.ts';

const BYTES_PER_TOKEN = 3;
const LONG_BYTES = 30_000;
/** What is counted for little, such as the frame of a text, may be missing. */
const MISSING_BYTES_MAX = 300;

const TEXT = { type: 'input_text', text: 'Hi' };
const TOOL = {
  ...{ type: 'function', name: 'look', description: 'Looks', strict: false },
  parameters: { type: 'object', properties: { at: { type: 'string', description: 'What' } } },
};
const CUSTOM = {
  ...{ type: 'custom', name: 'patch', description: 'Patches' },
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};
const BODY = {
  ...{ model: 'm', store: false, max_output_tokens: 9, instructions: 'Help.' },
  input: [
    { type: 'message', role: 'developer', content: 'Be brief.' },
    { role: 'user', content: [TEXT] },
    {
      ...{ type: 'message', role: 'assistant', phase: 'final' },
      content: [
        { type: 'output_text', text: 'Ho' },
        { type: 'refusal', refusal: 'No' },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], content: null },
    {
      ...{ type: 'function_call', call_id: 'c1', name: 'read', namespace: 'files' },
      arguments: '{"a":1}',
    },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' },
    { type: 'function_call_output', call_id: 'c1', output: [TEXT] },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'Done' },
    {
      ...{ type: 'agent_message', author: '/lead', recipient: '/lead/a' },
      content: [TEXT, { type: 'encrypted_content', encrypted_content: 'Look' }],
    },
    { role: 'user', content: 'Go on.' },
  ],
  tools: [
    TOOL,
    CUSTOM,
    { type: 'namespace', name: 'files', description: 'Files', tools: [{ ...TOOL, name: 'read' }] },
  ],
  text: {
    format: {
      ...{ type: 'json_schema', name: 'w', description: 'A word' },
      schema: { type: 'object', description: 'Words' },
    },
  },
};

const LONG_TEXTS: Readonly<Record<string, string>> = {
  'a long text': 'word '.repeat(LONG_BYTES / 5),
  'nothing but blanks': ' '.repeat(LONG_BYTES),
  'JSON with wide gaps': `{"a":${' '.repeat(LONG_BYTES)}1}`,
  'JSON that says a name twice': `{"a":"${'x'.repeat(LONG_BYTES)}","a":1}`,
};

/** Names under which nobody shows a text to a model. */
const UNSHOWN = new Set(['model', 'type', 'role', 'id', 'status', 'call_id', 'strict']);

type Path = readonly (string | number)[];

function listTexts(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return UNSHOWN.has(String(path.at(-1))) ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => listTexts(field, [...path, name]));
}

function replace(value: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text;
  const copy: unknown = Array.isArray(value) ? [...value] : { ...(value as object) };
  const field = replace(Reflect.get(copy as object, name), rest, text);
  Reflect.set(copy as object, name, field);
  return copy;
}

interface Sold {
  readonly sentBytes: number;
  readonly countedBytes: number;
}

/** Undefined if the request is refused. */
function sell(body: unknown): Sold | undefined {
  try {
    const read = readRequest(
      Buffer.from(JSON.stringify(body)),
      responsesFormat,
      () => undefined,
      true,
    );
    const { request, readWhole, source } = read;
    const call = { request, readWhole, source, isStream: false, outputTokensMax: 9 };
    const sent = dialectOf('responses').encodeRequest(call, 'm', undefined);
    const { likely, unsure } = estimateTokens(request, BYTES_PER_TOKEN, source);
    const pieces = typeof sent === 'string' ? [Buffer.from(sent)] : sent;
    return {
      sentBytes: pieces.reduce((sum, { length }) => sum + length, 0),
      countedBytes: (likely + unsure) * BYTES_PER_TOKEN,
    };
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The places whose text goes on to the upstream and is not counted. */
function listFree(body: unknown, text: string): readonly string[] {
  const plain = sell(body);
  return listTexts(body)
    .filter((path) => {
      const sold = sell(replace(body, path, text));
      if (plain === undefined || sold === undefined) return false;
      const sentMore = sold.sentBytes - plain.sentBytes;
      return sold.countedBytes - plain.countedBytes < sentMore - MISSING_BYTES_MAX;
    })
    .map((path) => path.join('.'));
}

const withItem = (item: object) => ({ ...BODY, input: [item] });

function estimate(body: object) {
  const bytes = Buffer.from(JSON.stringify(body));
  const { request, source } = readRequest(bytes, responsesFormat, () => undefined, true);
  return estimateTokens(request, BYTES_PER_TOKEN, source);
}

describe('what goes on to an upstream of the Responses format', () => {
  it.each(Object.entries(LONG_TEXTS))('is counted wherever %s stands', (_, text) => {
    expect(listFree(BODY, text)).toEqual([]);
    expect(listFree({ ...BODY, input: 'Hi' }, text)).toEqual([]);
  });

  it.each([
    ['the request', (marker: object) => ({ ...BODY, ...marker })],
    ['a part', (marker: object) => withItem({ role: 'user', content: [{ ...TEXT, ...marker }] })],
    ['an item', (marker: object) => withItem({ role: 'user', content: 'Hi', ...marker })],
    ['a tool', (marker: object) => ({ ...BODY, tools: [{ ...TOOL, ...marker }] })],
  ])('is held at the price of the cache where %s is to be written there', (_, mark) => {
    const cacheOf = (marker: object) => estimate(mark(marker)).cacheWrite;
    expect(cacheOf({})).toBeUndefined();
    expect(cacheOf({ cache_control: { type: 'ephemeral' } })).toBe('5m');
    expect(cacheOf({ cache_control: { type: 'ephemeral', ttl: '1h' } })).toBe('1h');
  });

  it('is counted if it says more than once what a call has brought', () => {
    const again = { type: 'function_call_output', call_id: 'c1', output: 'Once' };
    const body = { ...BODY, input: [...BODY.input, again, again] };
    expect(listFree(body, LONG_TEXTS['a long text'] ?? '')).toEqual([]);
  });

  it('is not counted where it is how likely the words of an answer were', () => {
    const one = { token: 'Ho', logprob: -0.1, bytes: [72, 111] };
    const logprobs = new Array(1_000).fill({ ...one, top_logprobs: [one, one] });
    const answer = (likely: readonly unknown[]) => ({
      ...{ type: 'message', role: 'assistant', id: 'msg_1', status: 'completed' },
      content: [{ type: 'output_text', text: 'Ho', annotations: [], logprobs: likely }],
    });
    const [plain, echoed] = [[], logprobs].map((likely) =>
      sell({ ...BODY, input: [...BODY.input, answer(likely)] }),
    );
    expect(echoed?.sentBytes).toBeGreaterThan(plain?.sentBytes ?? 0);
    expect(echoed?.countedBytes).toBe(plain?.countedBytes);
  });

  it.each(['a tool', 'a call', 'what a call has brought'])(
    'is counted under the name of such likelihoods in %s',
    (place) => {
      const logprobs = [{ token: 'word '.repeat(4_000) }];
      const call = { type: 'function_call', call_id: 'c9', name: 'f', arguments: '{}' };
      const said = { type: 'function_call_output', call_id: 'c9', output: 'Once' };
      const tool = { type: 'function', name: 'f', parameters: { type: 'object' } };
      const [plain, padded] = [{}, { logprobs }].map((more) =>
        sell({
          ...BODY,
          input: [
            ...BODY.input,
            { ...call, ...(place === 'a call' && more) },
            { ...said, ...(place === 'what a call has brought' && more) },
          ],
          tools: [{ ...tool, ...(place === 'a tool' && more) }],
        }),
      );
      const sentMore = (padded?.sentBytes ?? 0) - (plain?.sentBytes ?? 0);
      expect(sentMore).toBeGreaterThan(20_000);
      expect((padded?.countedBytes ?? 0) - (plain?.countedBytes ?? 0)).toBeGreaterThan(19_900);
    },
  );

  it.each([
    { type: 'image_generation_call', id: 'ig_1', result: 'A'.repeat(LONG_BYTES) },
    {
      ...{ type: 'computer_call_output', call_id: 'c9' },
      output: { type: 'computer_screenshot', image_url: `data:,${'A'.repeat(LONG_BYTES)}` },
    },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'A'.repeat(LONG_BYTES) },
    { type: 'of_tomorrow', content: 'A'.repeat(LONG_BYTES) },
  ])('is not counted where it stays here: $type', (item) => {
    const [plain, more] = [[], [item]].map((items) =>
      sell({ ...BODY, input: [...items, ...BODY.input] }),
    );
    expect(more?.sentBytes).toBeLessThan((plain?.sentBytes ?? 0) + MISSING_BYTES_MAX);
    expect(more?.countedBytes).toBeLessThan((plain?.countedBytes ?? 0) + MISSING_BYTES_MAX);
  });

  it('is counted once where it is a thought that was sealed here', () => {
    const countOf = (sealed: string) => {
      const summary = [{ type: 'summary_text', text: 'Hm' }];
      const thought = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: sealed };
      const bytes = Buffer.from(JSON.stringify({ ...BODY, input: [thought, ...BODY.input] }));
      const aids = { openThought: keepSealed };
      const { request, source } = readRequest(bytes, responsesFormat, () => undefined, false, aids);
      const { likely, unsure } = estimateTokens(request, BYTES_PER_TOKEN, source);
      return (likely + unsure) * BYTES_PER_TOKEN;
    };
    const added = countOf(SEALED_BEGINNING + 'A'.repeat(LONG_BYTES)) - countOf(SEALED_BEGINNING);
    expect(added).toBeGreaterThan(LONG_BYTES - MISSING_BYTES_MAX);
    expect(added).toBeLessThan(LONG_BYTES + MISSING_BYTES_MAX);
  });
});
