import { expect, it } from 'vitest';
import { openLists, usageOf } from '../scripts/list-scene.ts';
import { requestNumber } from '../scripts/open-scripts.ts';

const { scripts, ask, setKeyList, expectLimit } = openLists();

it('a limit that was passed refuses nobody who needs nothing of it', async () => {
  await setKeyList('o,60000,100,b;');
  const tokens = { input: 0, output: 10, outputLeast: 10, isOutputOpen: true };
  await ask(1, 0, 0, { tokens });
  await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(0, 200) });
  expect((await ask(2, 50)).kind).toBe('admitted');
  await expectLimit(ask(3, 50, 1), { unit: 'output_tokens', countedAmount: 200 });
});

it('another limit that refuses is told instead of it, and has its own wait', async () => {
  await setKeyList('o,d,100,b;i,60000,100,b;');
  const tokens = { input: 60, output: 10, outputLeast: 10, isOutputOpen: true };
  await ask(1, 0, 0, { tokens });
  await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(60, 200) });
  await expectLimit(ask(2, 50), { unit: 'input_tokens', countedAmount: 60 });
});

it('what is held is never less than nothing where an amount was lowered below what counts', async () => {
  await setKeyList('c,d,500,b;o,d,500,b;');
  await ask(1, 0, 300, { holdMicros: 300 });
  await setKeyList('c,d,100,b;o,d,100,b;');
  const tokens = { input: 5, output: 40, outputLeast: 0, isOutputOpen: false };
  const free = { holdMicros: 50, holdLeastMicros: 0, tokens };
  expect(await ask(2, 0, 0, free)).toMatchObject({
    ...{ kind: 'admitted', heldMicros: 0, outputTokensRoom: 0 },
  });
});
