import { describe, expect, it } from 'vitest';
import { createStreamDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { readAll, relayAll } from './relay-support.ts';

type Fields = Readonly<Record<string, unknown>>;

const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
const TERMS = { model: 'llm-pinned', context: CONTEXT, seal: undefined };
const ADDED = 'response.output_item.added';
const DONE = 'response.output_item.done';

/** Both have the id of the first item, as some upstreams name all of theirs. */
const tell = (type: string, index: number, more: Fields = {}): Fields => ({
  ...{ type, output_index: index },
  item: { type: 'function_call', id: 'fc_v', call_id: `c${index}`, name: 'run', ...more },
});
const added = (index: number) => tell(ADDED, index);
const done = (index: number) => tell(DONE, index, { arguments: '{"a":1}', status: 'completed' });

const PAYLOADS: readonly Fields[] = [
  { type: 'response.created', response: { id: 'resp_v', model: 'v' } },
  ...[added(0), added(0), done(0), done(0), added(1), done(1), done(0), done(1)],
  {
    type: 'response.completed',
    response: { output: [], usage: { input_tokens: 1, output_tokens: 1 } },
  },
];
const BYTES = new TextEncoder().encode(
  PAYLOADS.map(
    (payload, i) =>
      `event: ${payload['type']}\ndata: ${JSON.stringify({ sequence_number: i, ...payload })}\n\n`,
  ).join(''),
);

describe('an item that its upstream sends twice in one place', () => {
  it('is one call for clients of other formats', () => {
    const { events } = readAll(BYTES, createStreamDecoder(undefined));
    const blocks = events.flatMap((event) => (event.type === 'block_start' ? [event.block] : []));
    expect(blocks).toMatchObject([{ id: 'c0' }, { id: 'c1' }]);
  });

  it('is relayed once, and no number is lost', () => {
    const told = createSseDecoder()
      .push(relayAll(createResponsesRelay(TERMS), [BYTES]).bytes)
      .map(({ data }): Fields => JSON.parse(data));
    const items = told.flatMap(({ type, item }) => {
      const id = (item as Fields | undefined)?.['call_id'];
      return id === undefined ? [] : [`${type} ${id}`];
    });
    expect(items).toEqual([`${ADDED} c0`, `${DONE} c0`, `${ADDED} c1`, `${DONE} c1`]);
    expect(told.at(-1)?.['response']).toMatchObject({
      output: [{ call_id: 'c0' }, { call_id: 'c1' }],
    });
    expect(told.map(({ sequence_number: number }) => number)).toEqual([...told.keys()]);
  });
});
