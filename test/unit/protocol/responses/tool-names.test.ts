import { expect, it } from 'vitest';
import { createPayloadDecoder } from '../../../../src/protocol/responses/answers/decode-stream.ts';
import { toolOf } from '../../../../src/protocol/responses/answers/response-object.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';

const TOOLS = [
  { type: 'function', name: 'a__b' },
  { type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] },
];
const CALLED = [
  { name: 'a__b', namespace: undefined },
  { name: 'b', namespace: 'a' },
];

it.each([
  ['the function', TOOLS],
  ['the namespace', TOOLS.toReversed()],
])('two tools whose names become equal are distinguished, with %s first', (_first, tools) => {
  const body = { model: 'm', input: 'Hi', tools };
  const { request, response } = responsesFormat.decodeRequest(body, () => undefined);
  if (response === undefined) throw new Error('the format has terms of its own');
  const told = request.tools.map(({ name = '' }) => name);
  expect(new Set(told).size).toBe(2);
  const context = { ...response, requestId: 'req_1', completedSeconds: () => 0 };

  const toldTo = (name: string) => ({ ...toolOf(context, name), isCustom: undefined });
  expect(new Set(told.map(toldTo))).toEqual(new Set(CALLED));

  // An upstream of this format has got the tools as the client wrote them.
  const decoder = createPayloadDecoder(undefined, response.toolNames);
  const read = CALLED.flatMap((called, place) => {
    const item = { type: 'function_call', call_id: `c${place}`, arguments: '{}', ...called };
    return decoder.decode({ type: 'response.output_item.done', output_index: place, item });
  });
  const names = read.flatMap((event) =>
    event.type === 'block_start' && event.block.type === 'tool_use' ? [event.block.name] : [],
  );
  expect(names.map(toldTo)).toEqual(CALLED);
});
