import { expect, it } from 'vitest';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';

const decode = (tools: readonly object[]) =>
  responsesFormat.decodeRequest({ model: 'haiku', input: 'Hi', tools }, () => undefined);

it('a namespace in a namespace is refused, whatever is in it', () => {
  for (const inner of [{}, { name: 'b', tools: [{ type: 'function' }] }]) {
    const outer = { type: 'namespace', name: 'a', tools: [{ type: 'namespace', ...inner }] };
    expect(() => decode([outer])).toThrow(
      expect.objectContaining({ status: 400, param: 'tools[0].tools[0].type' }),
    );
  }
});
