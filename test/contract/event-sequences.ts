import fc from 'fast-check';
import type {
  BlockDelta,
  BlockStart,
  InferenceEvent,
  Usage,
} from '../../src/protocol/inference.ts';

export interface EventSequence {
  readonly events: readonly InferenceEvent[];
  /** What a reader finds in the stream. */
  readonly text: string;
  /** The same without blocks in which nothing is visible. */
  readonly visibleText: string;
  readonly tools: readonly { id: string; name: string; input: unknown }[];
  /** Whether the stream stops in the middle. The encoder gets to know it. */
  readonly isFailed: boolean;
}

interface Block {
  readonly start: BlockStart;
  readonly deltas: readonly BlockDelta[];
}

const textOf = fc.string({ unit: 'grapheme', maxLength: 12 });
const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);

const textBlocks: fc.Arbitrary<Block> = fc.array(textOf, { maxLength: 4 }).map((pieces) => ({
  start: { type: 'text' },
  deltas: pieces.map((text) => ({ type: 'text', text })),
}));

const thinkingBlocks: fc.Arbitrary<Block> = fc
  .tuple(fc.array(textOf, { maxLength: 3 }), fc.option(word))
  .map(([pieces, signature]) => ({
    start: { type: 'thinking' },
    deltas: [
      ...pieces.map((thinking) => ({ type: 'thinking' as const, thinking })),
      ...(signature === null ? [] : [{ type: 'signature' as const, signature }]),
    ],
  }));

const redactedBlocks: fc.Arbitrary<Block> = word.map((data) => ({
  start: { type: 'redacted_thinking', data },
  deltas: [],
}));

/** Cuts between code units, since a piece of JSON may end anywhere. */
function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length];
  ends.sort((a, b) => a - b);
  return ends.map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1], end));
}

const toolBlocks: fc.Arbitrary<Block> = fc
  .record({
    name: word,
    input: fc.option(fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })),
    places: fc.array(fc.nat(1_000), { maxLength: 3 }),
  })
  .map(({ name, input, places }) => ({
    start: { type: 'tool_use', id: 'toolu_', name },
    deltas:
      input === null
        ? []
        : cut(JSON.stringify(input), places).map((json) => ({ type: 'input_json', json })),
  }));

const usages = fc.record({
  input: fc.nat(),
  cacheRead: fc.nat(),
  cacheWrite5m: fc.nat(),
  cacheWrite1h: fc.nat(),
  output: fc.nat(),
  thinking: fc.nat(),
  // The chat format cannot express searches.
  searches: fc.constant(0),
});

const finishes = fc.record({
  type: fc.constant('finish' as const),
  stopReason: fc.constantFrom(
    'end_turn' as const,
    'max_tokens' as const,
    'stop_sequence' as const,
    'tool_use' as const,
    'pause_turn' as const,
    'refusal' as const,
    'model_context_window_exceeded' as const,
  ),
  stopSequence: fc.option(textOf, { nil: undefined }),
  usage: fc.option(usages, { nil: undefined, freq: 10 }),
});

function readTools(events: readonly InferenceEvent[]): EventSequence['tools'] {
  const tools: { id: string; name: string; json: string }[] = [];
  for (const event of events) {
    if (event.type === 'block_start' && event.block.type === 'tool_use') {
      tools.push({ id: event.block.id, name: event.block.name, json: '' });
    }
    const last = tools.at(-1);
    if (event.type === 'delta' && event.delta.type === 'input_json' && last !== undefined) {
      last.json += event.delta.json;
    }
  }
  return tools.map(({ id, name, json }) => ({ id, name, input: JSON.parse(json || '{}') }));
}

function readText(events: readonly InferenceEvent[]): string {
  return events
    .map((event) => (event.type === 'delta' && event.delta.type === 'text' ? event.delta.text : ''))
    .join('');
}

function readVisibleText(blocks: readonly Block[]): string {
  return blocks
    .map(({ deltas }) => deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join(''))
    .filter((text) => text.trim() !== '')
    .join('');
}

/** Usage only increases. */
function raise(usage: Usage, more: Usage): Usage {
  return {
    input: usage.input + more.input,
    cacheRead: usage.cacheRead + more.cacheRead,
    cacheWrite5m: usage.cacheWrite5m + more.cacheWrite5m,
    cacheWrite1h: usage.cacheWrite1h + more.cacheWrite1h,
    output: usage.output + more.output,
    thinking: usage.thinking + more.thinking,
    searches: usage.searches + more.searches,
  };
}

/** Every sequence that the contract of `InferenceEvent` allows. */
export const eventSequences: fc.Arbitrary<EventSequence> = fc
  .record({
    usage: usages,
    blocks: fc.array(fc.oneof(textBlocks, thinkingBlocks, redactedBlocks, toolBlocks), {
      maxLength: 5,
    }),
    finish: finishes,
    isFailed: fc.boolean(),
  })
  .map(({ usage, blocks, finish, isFailed }) => {
    const inside = blocks.flatMap(({ start, deltas }, index): InferenceEvent[] => [
      {
        type: 'block_start',
        index,
        block: start.type === 'tool_use' ? { ...start, id: `toolu_${index}` } : start,
      },
      ...deltas.map((delta): InferenceEvent => ({ type: 'delta', index, delta })),
      { type: 'block_stop', index },
    ]);
    // Half of a tool's input could not be compared.
    const isCut = isFailed && blocks.at(-1)?.start.type !== 'tool_use';
    const events: InferenceEvent[] = [
      { type: 'start', id: 'msg_0123456789', model: 'llm-opus-4.7', usage },
      ...(isCut ? inside.slice(0, -1) : inside),
      ...(isFailed ? [] : [{ ...finish, usage: finish.usage && raise(usage, finish.usage) }]),
    ];
    const text = readText(inside);
    const visibleText = readVisibleText(blocks);
    return { events, text, visibleText, tools: readTools(inside), isFailed };
  });
