import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../src/protocol/answers/no-usage.ts';
import type {
  AnswerContext,
  BlockStart,
  InferenceEvent,
  StopReason,
} from '../../../../src/protocol/inference.ts';
import type { ToolName } from '../../../../src/protocol/responses/response-context.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { createSseDecoder } from '../../../../src/protocol/sse/sse-decoder.ts';
import { eventSequences } from '../../../contract/event-sequences.ts';
import { collectAnswer } from '../../../contract/read-meaning.ts';
import { readResponsesStream } from '../../../contract/read-responses-stream.ts';

const TIME_MS = 2_000;

const custom: ToolName = { name: 'apply_patch', namespace: undefined, isCustom: true };
const member: ToolName = { name: 'read', namespace: 'mcp__files', isCustom: false };
const CONTEXT: AnswerContext = {
  createdSeconds: 1_700_000_000,
  wantsStreamUsage: true,
  response: {
    echo: { metadata: { a: 'b' } },
    toolNames: new Map([
      ['apply_patch', custom],
      ['mcp__files__read', member],
    ]),
    wantsStore: true,
    previousId: undefined,
    requestId: 'req_0123456789abcdefghijklmn',
    completedSeconds: () => 1_700_000_009,
    sealThought: (thought) =>
      thought.type === 'thinking' ? `sealed ${thought.signature}` : `sealed ${thought.data}`,
  },
};

const REQUIRED_FIELDS = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'background', 'error'],
  ...['incomplete_details', 'instructions', 'max_output_tokens', 'max_tool_calls', 'metadata'],
  ...['model', 'output', 'parallel_tool_calls', 'previous_response_id', 'prompt_cache_key'],
  ...['reasoning', 'safety_identifier', 'service_tier', 'store', 'temperature', 'text'],
  ...['tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'usage'],
  ...['presence_penalty', 'frequency_penalty'],
];

function encodeText(events: readonly InferenceEvent[]): string {
  const encoder = responsesFormat.createStreamEncoder(CONTEXT);
  return events.map((event) => encoder.encode(event)).join('');
}

const readStream = (events: readonly InferenceEvent[]) =>
  readResponsesStream(createSseDecoder().push(new TextEncoder().encode(encodeText(events))));

const readWhole = (events: readonly InferenceEvent[]) =>
  JSON.parse(responsesFormat.encodeAnswer(collectAnswer(events), CONTEXT));

function answer(
  blocks: readonly (readonly [BlockStart, ...string[]])[],
  stopReason: StopReason = 'end_turn',
): InferenceEvent[] {
  return [
    { type: 'start', id: 'msg_1', model: 'haiku', usage: NO_USAGE },
    ...blocks.flatMap(([block, ...pieces], index): InferenceEvent[] => [
      { type: 'block_start', index, block },
      ...pieces.map((piece): InferenceEvent => {
        const delta =
          block.type === 'tool_use'
            ? ({ type: 'input_json', json: piece } as const)
            : ({ type: 'text', text: piece } as const);
        return { type: 'delta', index, delta };
      }),
      { type: 'block_stop', index },
    ]),
    { type: 'finish', stopReason, stopSequence: undefined, usage: NO_USAGE },
  ];
}

const call = (name: string) => ({ type: 'tool_use', id: 'toolu_1', name }) as const;
const text = { type: 'text' } as const;

describe('an answer in the Responses format', () => {
  it('says the same as a stream and as a whole', () => {
    fc.assert(
      fc.property(eventSequences, ({ events, isFailed }) => {
        fc.pre(!isFailed);
        const { output, status } = readStream(events);
        const whole = readWhole(events);
        expect(whole.status).toBe(status);
        // A model writes its JSON as it likes, and only a stream shows it.
        const plain = (items: readonly object[]) =>
          items.map((item) =>
            'arguments' in item ? { ...item, arguments: JSON.parse(String(item.arguments)) } : item,
          );
        // Nor can a whole answer tell a call without input from one that was cut.
        const statusless = (items: readonly object[]) =>
          plain(items).map((item) => ('arguments' in item ? { ...item, status: undefined } : item));
        expect(statusless(whole.output)).toEqual(statusless(output));
      }),
      { interruptAfterTimeLimit: TIME_MS },
    );
  });

  it('gives a custom tool its text, however its JSON is cut and escaped', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.nat(200), { maxLength: 6 }),
        fc.boolean(),
        (said, cuts, ascii) => {
          const plain = JSON.stringify({ input: said });
          const json = ascii
            ? plain.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
            : plain;
          const ends = [...cuts.map((cut) => cut % json.length), json.length].sort((a, b) => a - b);
          const pieces = ends.map((end, i) => json.slice(i === 0 ? 0 : ends[i - 1], end));
          const events = answer([[call('apply_patch'), ...pieces]], 'tool_use');
          const expected = { type: 'custom_tool_call', name: 'apply_patch', input: said };
          expect(readStream(events).output).toMatchObject([expected]);
          expect(readWhole(events).output).toMatchObject([expected]);
        },
      ),
      { interruptAfterTimeLimit: TIME_MS },
    );
  });

  it('gives a custom tool what a model wrote under another name, or as no object', () => {
    for (const [json, input] of [
      ['{"patch": "a"}', 'a'],
      ['{"a": 1, "input": "b"}', 'b'],
      ['{"a": 1}', '{"a":1}'],
      ['{}', ''],
      ['', ''],
    ]) {
      const events = answer([[call('apply_patch'), json ?? '']], 'tool_use');
      expect(readStream(events).output, json).toMatchObject([{ input }]);
      expect(readWhole(events).output, json).toMatchObject([{ input }]);
    }
    expect(readStream(answer([[call('apply_patch'), '"a"']])).output).toMatchObject([
      { input: '"a"' },
    ]);
  });

  it('names a tool of a namespace as the client does', () => {
    const events = answer([[call('mcp__files__read'), '{}']], 'tool_use');
    const expected = { type: 'function_call', name: 'read', namespace: 'mcp__files' };
    expect(readStream(events).output).toMatchObject([expected]);
    expect(readWhole(events).output).toMatchObject([expected]);
  });

  it('never says that half a call is done, which clients would run', () => {
    for (const json of ['', '{"ci', '{"city": "Oslo"']) {
      for (const reason of ['max_tokens', 'refusal', 'model_context_window_exceeded'] as const) {
        const stream = encodeText(
          answer(
            [
              [text, 'So'],
              [call('weather'), json],
            ],
            reason,
          ),
        );
        expect(stream.match(/event: response.output_item.done/g)).toHaveLength(1);
        expect(stream).not.toContain('function_call_arguments.done');
        expect(
          readStream(
            answer(
              [
                [text, 'So'],
                [call('weather'), json],
              ],
              reason,
            ),
          ),
        ).toMatchObject({
          status: reason === 'refusal' ? 'completed' : 'incomplete',
          output: [{ type: 'message' }, { type: 'function_call', status: 'incomplete' }],
        });
      }
    }
  });

  it('says at once that a whole call is done, whatever follows', () => {
    const encoder = responsesFormat.createStreamEncoder(CONTEXT);
    const told = answer([[call('weather'), '{"a": 1}']], 'max_tokens')
      .slice(0, -1)
      .map((event) => encoder.encode(event))
      .join('');
    expect(told).toContain('event: response.output_item.done');
  });

  it('shows a refusal as a part if the model said nothing else', () => {
    const refused = { content: [{ type: 'refusal', refusal: 'The model declined to answer.' }] };
    for (const read of [readStream, readWhole]) {
      expect(read(answer([], 'refusal'))).toMatchObject({ status: 'completed', output: [refused] });
      const said = read(answer([[text, 'No.']], 'refusal'));
      expect(said).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
    }
  });

  it('ends with an empty message if it is complete and says nothing', () => {
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const empty = { type: 'message', status: 'completed', role: 'assistant', content: [part] };
    for (const read of [readStream, readWhole]) {
      expect(read(answer([])).output).toMatchObject([empty]);
      expect(read(answer([[text]])).output).toMatchObject([empty]);
      expect(read(answer([], 'max_tokens'))).toMatchObject({ status: 'incomplete', output: [] });
    }
    const told = encodeText(answer([])).matchAll(/^event: response\.(.*)$/gm);
    expect([...told].map(([, name]) => name)).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'content_part.added'],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
  });

  it('seals each thought for the way back', () => {
    const events: InferenceEvent[] = [
      { type: 'start', id: 'msg_1', model: 'haiku', usage: NO_USAGE },
      { type: 'block_start', index: 0, block: { type: 'thinking' } },
      { type: 'delta', index: 0, delta: { type: 'signature', signature: 'sig' } },
      { type: 'block_stop', index: 0 },
      { type: 'block_start', index: 1, block: { type: 'redacted_thinking', data: 'data' } },
      { type: 'block_stop', index: 1 },
      { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage: NO_USAGE },
    ];
    const expected = [
      { type: 'reasoning', summary: [], encrypted_content: 'sealed sig' },
      { type: 'reasoning', summary: [], encrypted_content: 'sealed data' },
      { type: 'message' },
    ];
    expect(readStream(events).output).toMatchObject(expected);
    expect(readWhole(events).output).toMatchObject(expected);
  });

  it('has every field that the schema of the format requires', () => {
    const { response: terms } = responsesFormat.decodeRequest(
      { model: 'haiku', input: 'Hi', tools: [{ type: 'function', name: 'a' }] },
      () => undefined,
    );
    const response = CONTEXT.response && terms && { ...CONTEXT.response, ...terms };
    const context = { ...CONTEXT, ...(response && { response }) };
    const written = responsesFormat.encodeAnswer(collectAnswer(answer([[text, 'Yes']])), context);
    const { tools, ...fields } = JSON.parse(written);
    expect(Object.keys({ ...fields, tools }).sort()).toEqual(REQUIRED_FIELDS.toSorted());
    expect(Object.keys(tools[0]).sort()).toEqual([
      'description',
      'name',
      'parameters',
      'strict',
      'type',
    ]);
    for (const name of ['temperature', 'top_p', 'top_logprobs', 'presence_penalty']) {
      expect(fields[name], name).toEqual(expect.any(Number));
    }
  });

  it('repeats its request, unless that is too long', () => {
    const tools = [{ type: 'function', name: 'a' }];
    for (const [instructions, expected] of [
      ['Be brief.', { instructions: 'Be brief.', tools }],
      ['Be brief. '.repeat(30_000), { instructions: null, tools: [] }],
    ] as const) {
      const response = CONTEXT.response && {
        ...CONTEXT.response,
        echo: { instructions, tools, top_p: 0.5 },
      };
      const written = responsesFormat.encodeAnswer(collectAnswer(answer([[text, 'Yes']])), {
        ...CONTEXT,
        ...(response && { response }),
      });
      expect(JSON.parse(written)).toMatchObject({ ...expected, top_p: 0.5 });
    }
  });

  it('says what is to be kept before its end, and whether it was', () => {
    for (const isKept of [true, false]) {
      const encoder = responsesFormat.createStreamEncoder(CONTEXT);
      const events = answer([[text, 'Hello']]);
      const begun = events.slice(0, -1).map((event) => encoder.encode(event));
      expect(begun[0]?.match(/"store":\w+/g)).toEqual(['"store":true', '"store":true']);
      const finish = events.at(-1);
      if (finish?.type !== 'finish') throw new Error('no finish');
      const kept = encoder.readKept?.(finish);
      const output = JSON.parse(kept?.output ?? '');
      expect({ id: kept?.id, output }).toMatchObject({
        id: 'resp_0123456789abcdefghijklmn',
        output: [{ id: 'msg_0123456789abcdefghijklmn_0', content: [{ text: 'Hello' }] }],
      });
      encoder.noteKept?.(isKept);
      const [, last = ''] = encoder.encode(finish).split('event: response.completed\ndata: ');
      const { response } = JSON.parse(last);
      expect(response).toMatchObject({ store: isKept, completed_at: 1_700_000_009 });
      expect(response.output).toEqual(output);
      const rest = JSON.parse(kept?.response ?? '');
      expect({ ...rest, output, store: isKept }).toEqual(response);
    }
  });
});
