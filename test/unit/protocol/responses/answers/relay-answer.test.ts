import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../../../../src/protocol/answers/count-content-bytes.ts';
import { JSON_DEPTH_MAX } from '../../../../../src/protocol/json/json-place.ts';
import { parseJsonBody } from '../../../../../src/protocol/json/parse-json-body.ts';
import { decodeResponsesAnswer } from '../../../../../src/protocol/responses/answers/decode-answer.ts';
import { relayResponsesAnswer } from '../../../../../src/protocol/responses/answers/relay-answer.ts';
import { createResponsesRelay } from '../../../../../src/protocol/responses/answers/relay-stream.ts';
import {
  attempt,
  shuffle,
  strangeFields,
  texts,
  writeJson,
  writings,
} from '../../written-bodies.ts';

const FUZZ_TIME_MS = 4_000;
const TERMS = {
  model: 'llm-"pinned"',
  context: { createdSeconds: 1_800_000_000, wantsStreamUsage: false },
  seal: () => 'tg1.sealed',
};

const relay = (body: string) => relayResponsesAnswer(Buffer.from(body), TERMS);

const message = texts.map((text) => ({
  ...{ type: 'message', id: 'msg_v', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [{ model: 'nested' }] }],
}));
const items = fc.oneof(
  message,
  fc.constantFrom<object>(
    { type: 'function_call', id: 'fc_v', call_id: 'c', name: 'look', arguments: '{"a":"ö"}' },
    { type: 'function_call', id: 'fc_v', call_id: 'c', arguments: '{}' },
    { type: 'reasoning', id: 'rs_v', summary: [], encrypted_content: 'of the vendor' },
    { type: 'of_tomorrow', model: 'nested' },
  ),
);
const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13, more: [1] };
const answers = fc
  .record(
    {
      id: fc.constantFrom('resp_"1"', 'x', 7),
      model: fc.constantFrom('vendor', 'mödel'),
      status: fc.constantFrom('completed', 'completed', 'incomplete', 'failed', 'in_progress'),
      output: fc.array(items, { maxLength: 3 }),
      usage: fc.constantFrom<unknown>(usage, usage, usage, {}, null),
      error: fc.constantFrom<unknown>(null, null, null, { message: 'worse' }),
      store: fc.constantFrom(true, false),
    },
    { requiredKeys: ['output', 'usage'] },
  )
  .chain((known) => strangeFields.map((strange) => ({ ...strange, ...known })))
  .chain(shuffle);

describe('a whole answer of the responses format', () => {
  it('is relayed with all of its fields, and counted as it would be read', () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(answers, writings, (answer, writing) => {
        const body = writeJson(answer, writing);
        const read = attempt(() => decodeResponsesAnswer(body, TERMS.seal));
        const relayed = attempt(() => relay(body));
        if (typeof read === 'string' || typeof relayed === 'string') {
          expect(relayed).toEqual(read);
          outcomes.add('refused');
          return;
        }
        const finish = read.at(-1);
        const reported = finish?.type === 'finish' ? finish.usage : undefined;
        if (relayed.closing === undefined || reported === undefined) {
          expect(relayed).toEqual({ events: read, contentBytes: 0, closing: undefined });
          outcomes.add('written anew');
          return;
        }
        outcomes.add('relayed');
        const { events, contentBytes } = tallyDeltas(read);
        expect(relayed.contentBytes).toBe(contentBytes);
        expect(relayed.events).toEqual([events[0], finish]);
        const {
          model: _model,
          store: _store,
          id: _id,
          output: _output,
          ...others
        } = JSON.parse(body);
        const text = Buffer.from(relayed.closing(reported)).toString('utf8');
        const sent = JSON.parse(text);
        expect(sent).toMatchObject({ ...others, model: TERMS.model, store: false });
        expect(sent.output).toHaveLength(JSON.parse(body).output.length);
        expect(text).not.toContain('of the vendor');
      }),
      { numRuns: 3_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
    expect([...outcomes].sort()).toEqual(['refused', 'relayed', 'written anew']);
  });

  it('may repeat tools as deep as a request can have them, in events of a stream too', () => {
    const wrapped = { tools: [{ type: 'function', name: 'look', parameters: 0 }] };
    const levels = JSON_DEPTH_MAX - 4;
    const schema = `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`;
    const members = JSON.stringify(wrapped).slice(1, -1).replace(':0', `:${schema}`);
    expect(() => parseJsonBody(Buffer.from(`{"model":"m",${members}}`))).not.toThrow();
    const response = `{"id":"resp_1","output":[],"usage":${JSON.stringify(usage)},${members}}`;
    expect(relay(response).closing).toBeDefined();
    const event = `data: {"type":"response.completed","response":${response}}\n\n`;
    const { refusal } = createResponsesRelay(TERMS).push(Buffer.from(event));
    expect(refusal).toBeUndefined();
  });

  it('sends the output that is in the total alone', () => {
    const body = JSON.stringify({ output: [], usage: { ...usage, total_tokens: 20 } });
    const { events, closing } = relay(body);
    const finish = events.at(-1);
    const billed = finish?.type === 'finish' ? finish.usage : undefined;
    const sent = JSON.parse(Buffer.from((billed && closing?.(billed)) ?? []).toString());
    expect(sent.usage).toMatchObject({ input_tokens: 9, output_tokens: 11, total_tokens: 20 });
  });

  it('sends the usage that is billed, if that is another one', () => {
    const body = JSON.stringify({ output: [], status: 'completed', usage });
    const billed = {
      ...{ input: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
      ...{ output: 2, thinking: 0, searches: 0 },
    };
    const sent = JSON.parse(Buffer.from(relay(body).closing?.(billed) ?? []).toString());
    expect(sent.usage).toMatchObject({
      input_tokens: 5,
      output_tokens: 2,
      total_tokens: 7,
      more: [1],
    });
  });
});
