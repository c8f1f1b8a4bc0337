import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { encodeChatRequest } from '../../../../src/protocol/chat/requests/encode-request.ts';
import type { DecodeAids } from '../../../../src/protocol/format.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { encodeNativeRequest } from '../../../../src/protocol/native/requests/encode-request.ts';
import type { ResponseItem } from '../../../../src/protocol/responses/references.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';

const TIME_MS = 2_000;

const decode = (fields: object, aids?: DecodeAids) =>
  responsesFormat.decodeRequest({ model: 'haiku', input: 'Hi', ...fields }, () => undefined, aids);
const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);
const refusal = (param: string | null) => expect.objectContaining({ status: 400, param });

const texts = fc.constantFrom('a', 'Go.', ' ', '', '[1]');
const ids = fc.constantFrom('call_1', 'call_2', 'call:3', 'fc 4');
const names = fc.constantFrom('look', 'apply_patch', 'read');
const parts = fc.array(
  fc.oneof(
    texts.map((text) => ({ type: 'input_text', text })),
    texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
    texts.map((refused) => ({ type: 'refusal', refusal: refused })),
    fc.constant({ type: 'input_image', image_url: 'https://h/a.png', detail: 'auto' }),
    fc.constant({ type: 'input_file', file_url: 'https://h/a.pdf', filename: 'a.pdf' }),
  ),
  { maxLength: 3 },
);
const content = fc.oneof(texts, parts);
const thought = fc.constantFrom('ours', 'foreign', null);

const items: fc.Arbitrary<ResponseItem> = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content }),
  fc.record({ type: fc.constant('message'), role: fc.constant('user'), content }),
  fc.record({
    type: fc.constant('function_call'),
    ...{ call_id: ids, name: names },
    arguments: fc.constantFrom('{}', '', '{"a":', '[1]', '{"a":{"b":1}}'),
    namespace: fc.constantFrom(undefined, null, 'mcp__files'),
  }),
  fc.record({
    type: fc.constant('custom_tool_call'),
    ...{ call_id: ids, name: names, input: texts },
  }),
  fc.record({
    type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
    ...{ call_id: ids, output: content },
  }),
  fc.record({
    type: fc.constant('reasoning'),
    id: fc.constant('rs_1'),
    summary: fc.constant([]),
    content: fc.constant(null),
    encrypted_content: thought,
  }),
  fc.constantFrom<ResponseItem>(
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'local_shell_call_output', id: 'x', output: '' },
    { type: 'of_tomorrow', content: 'x' },
    {
      ...{ type: 'agent_message', author: '/lead', recipient: '/lead/a' },
      content: [{ type: 'encrypted_content', encrypted_content: 'Look.' }],
    },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'wait' }] },
  ),
);

/** Leaves out the outputs that no call precedes: they are refused. */
function withoutOrphans(list: readonly ResponseItem[]): ResponseItem[] {
  const called = new Set<unknown>();
  return list.filter((item) => {
    const kind = String(item['type']);
    if (kind.endsWith('tool_call') || kind === 'function_call') called.add(item['call_id']);
    const isOutput = kind === 'function_call_output' || kind === 'custom_tool_call_output';
    return !isOutput || called.has(item['call_id']);
  });
}

const bodies = fc.record({
  input: fc
    .array(items, { maxLength: 9 })
    .map((list) => [...withoutOrphans(list), { role: 'user', content: 'Well?' }]),
  instructions: fc.constantFrom('Be brief.', null),
  reasoning: fc.constantFrom(null, { effort: 'high', summary: 'auto' }, { effort: 'none' }),
  max_output_tokens: fc.constantFrom(100, null),
  prompt_cache_key: fc.constantFrom('k', null),
  tools: fc.constant([
    { type: 'function', name: 'look' },
    { type: 'custom', name: 'apply_patch' },
    { type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read' }] },
    { type: 'web_search' },
  ]),
  tool_choice: fc.constantFrom('auto', 'required', { type: 'custom', name: 'apply_patch' }),
});

const openThought: DecodeAids['openThought'] = (sealed) =>
  sealed === 'ours' ? { type: 'thinking', thinking: 'Hm.', signature: 'sig' } : undefined;

describe('any legal list of items', () => {
  it('makes a legal native and a legal chat request', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const { request } = decode(body, { openThought });
        const accepts = new Set(['effort', 'pdf'] as const);
        const call = { request, outputTokensMax: 100, source: undefined, isStream: true, accepts };
        const native = JSON.parse(encodeNativeRequest(call, 'sold'));
        expect(() => nativeFormat.decodeRequest(native, header)).not.toThrow();
        const roles = native.messages.map(({ role }: { role: string }) => role);
        expect(roles.at(-1)).toBe('user');
        for (const [i, role] of roles.entries()) {
          if (role === 'assistant') expect(roles[i + 1]).toBe('user');
        }
        let chat: ResponseItem = {};
        try {
          chat = JSON.parse(encodeChatRequest(call, 'sold', 'max_tokens'));
        } catch (error) {
          // A chat upstream takes no PDF by its address.
          expect(error).toMatchObject({ status: 400 });
          fc.pre(false);
        }
        expect(() => chatFormat.decodeRequest(chat, () => undefined)).not.toThrow();
      }),
      { interruptAfterTimeLimit: TIME_MS },
    );
  });
});

describe('a Responses request', () => {
  it('is refused with the field that is at fault', () => {
    for (const [fields, param] of [
      [{ input: null }, 'input'],
      [{ input: [] }, 'input'],
      [{ input: ' ' }, 'input'],
      [{ background: true }, 'background'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
      [{ service_tier: 'priority' }, 'service_tier'],
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input'],
      [{ input: [{ id: 'msg_1' }] }, 'input'],
      [{ input: [{ id: 'msg_1', content: 'Hi' }] }, 'input[0].role'],
      [{ input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].type'],
      [{ input: [{ type: 'function_call', name: 'a', arguments: '' }] }, 'input[0].call_id'],
      [{ input: [{ type: 'function_call', name: 'a', call_id: 'c' }] }, 'input[0].arguments'],
      [{ input: [{ type: 'function_call_output', call_id: 'c', output: '' }] }, 'input[0].call_id'],
      [
        { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
        'input[0].content[0].type',
      ],
      [
        { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
        'input[0].content[0].image_url',
      ],
      [
        { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
        'input[0].content[0].file_data',
      ],
      [{ tool_choice: 'required' }, 'tool_choice'],
      [{ tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
      [{ tool_choice: { type: 'function', name: 'none' } }, 'tool_choice'],
      [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice'],
      [{ tools: [{ type: 'function', name: 'a b' }] }, 'tools[0].name'],
      [{ truncation: 'always' }, 'truncation'],
      [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
      [{ metadata: { ['x'.repeat(65)]: '' } }, 'metadata'],
      [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ''])) }, 'metadata'],
    ] as const) {
      expect(() => decode(fields), JSON.stringify(fields)).toThrow(refusal(param));
    }
  });

  it('names the missing item in the words on which clients resend', () => {
    expect(() => decode({ input: [{ type: 'item_reference', id: 'rs_x' }] })).toThrow(
      "Item with id 'rs_x' not found. Items are not persisted when `store` is set to false.",
    );
  });

  it('drops what only a vendor could do, and other names of its own fields', () => {
    const { request } = decode({
      tools: [{ type: 'web_search' }, { type: 'mcp', server_label: 'x' }],
      moderation: { model: 'x' },
      context_management: [{ type: 'compaction', compact_threshold: 1_000 }],
      max_tokens: 7,
      truncation: 'auto',
    });
    expect(request).toMatchObject({ tools: [], unknownFields: [], outputTokensMax: undefined });
  });

  it('thinks by its effort, also where its calls came without thinking', () => {
    const reasoning = { effort: 'high' };
    const loop = [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', summary: [], encrypted_content: 'ours' },
      { type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '' },
    ];
    const tools = [{ type: 'function', name: 'a' }];
    const thinks = (fields: object) =>
      decode({ reasoning, tools, ...fields }, { openThought }).request.adaptiveThinking;
    expect(thinks({})).toEqual({ type: 'adaptive' });
    expect(thinks({ reasoning: { effort: 'low', summary: 'auto' } })).toEqual({
      ...{ type: 'adaptive', display: 'summarized' },
    });
    expect(thinks({ input: loop })).toEqual({ type: 'adaptive' });
    expect(thinks({ input: loop.filter(({ type }) => type !== 'reasoning') })).toEqual({
      type: 'adaptive',
    });
    expect(thinks({ reasoning: { effort: 'none' } })).toBeUndefined();
  });

  it('leaves out a thought that stands right before that of another answer', () => {
    const thoughtOf = (id: string | undefined) => ({
      ...{ type: 'reasoning', id, summary: [], encrypted_content: id ?? 'none' },
    });
    const idOf = (answer: string, index: number) => `rs_${answer.repeat(24)}_${index}`;
    const call = { type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' };
    const said = { role: 'assistant', content: 'So' };
    const keptOf = (...input: object[]) =>
      decode(
        { input: [...input, call] },
        { openThought: (signature) => ({ type: 'thinking', thinking: '', signature }) },
      ).request.messages.flatMap(({ content }) =>
        typeof content === 'string'
          ? []
          : content.flatMap((block) => (block.type === 'thinking' ? [block.signature] : [])),
      );
    const [a, b, c] = [idOf('a', 0), idOf('b', 0), idOf('c', 0)];
    const more = idOf('b', 1);
    expect(keptOf(...[a, b, more].map(thoughtOf))).toEqual([b, more]);
    expect(keptOf(...[a, b, more, c].map(thoughtOf))).toEqual([c]);
    expect(keptOf(thoughtOf(a), said, thoughtOf(b))).toEqual([a, b]);
    expect(keptOf(thoughtOf(a), { role: 'user', content: 'Well?' }, thoughtOf(b))).toEqual([a, b]);
    // Nobody can tell of which answer these are.
    expect(keptOf(...[undefined, b, 'rs_1', c].map(thoughtOf))).toEqual(['none', b, 'rs_1', c]);
  });

  it('gives a long or taken name of a namespace another one that the answer leads back from', () => {
    const long = 'n'.repeat(60);
    const { request, response } = decode({
      tools: [
        { type: 'function', name: 'a__b' },
        { type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] },
        { type: 'namespace', name: long, tools: [{ type: 'function', name: 'read_file' }] },
        { type: 'namespace', name: 'an app', tools: [{ type: 'function', name: 'b' }] },
      ],
    });
    const told = request.tools.map(({ name = '' }) => name);
    expect(new Set(told).size).toBe(4);
    for (const name of told) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(told.map((name) => response?.toolNames.get(name)?.namespace)).toEqual([
      undefined,
      'a',
      long,
      'an app',
    ]);
  });

  it('has an output of nothing as an empty text', () => {
    const input = [
      { type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '' },
    ];
    expect(decode({ input }).request.messages.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: '' },
    ]);
  });

  it('gives each call of a history an id of its own, and each its output', () => {
    const turn = [
      { type: 'function_call', call_id: 'call_0', name: 'a', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_0', output: 'x' },
    ];
    const { messages } = decode({ input: [...turn, ...turn] }).request;
    const written = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    expect(written).toMatchObject([
      { type: 'tool_use', id: 'call_0' },
      { type: 'tool_result', tool_use_id: 'call_0' },
      { type: 'tool_use', id: 'call_0_1' },
      { type: 'tool_result', tool_use_id: 'call_0_1' },
    ]);
  });
});
