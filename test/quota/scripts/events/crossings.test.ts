import { describe, expect, it } from 'vitest';
import { openLists, usageOf } from '../list-scene.ts';
import { NOW_MS, requestNumber, WINDOW_MS } from '../open-scripts.ts';
import { openEventReader } from './open-event-reader.ts';

const { scripts, ask, setKeyList } = openLists();
const LATER_MS = 50_000;
const AFTER_THE_FIRST_MS = 62_000;

const { readEvents, told, toldMarks } = openEventReader(scripts);
/** Its output may become longer than what is held. */
const askOpen = (number: number) =>
  ask(number, 0, 0, { tokens: { input: 0, output: 10, outputLeast: 10, isOutputOpen: true } });
const settle = (number: number, output: number) =>
  scripts.settle(0, { requestId: requestNumber(number), usage: usageOf(0, output) });

describe('a settlement', () => {
  it('crosses a line although as much had counted before, if that has left the window', async () => {
    await setKeyList('o,60000,100,b;');
    await ask(1, 0, 79);
    await scripts.setClock(NOW_MS + LATER_MS);
    await askOpen(2);
    expect(await told()).toEqual(['limit.warning 89']);
    await scripts.send('del', ...(await toldMarks()));
    await scripts.setClock(NOW_MS + AFTER_THE_FIRST_MS);
    await settle(2, 85);
    expect(await told()).toEqual(['limit.warning 89', 'limit.warning 85']);
  });
});

it('what is crossed after the mark of a window is over has another id', async () => {
  await setKeyList('o,60000,100,b;');
  const windowStartMs = Math.ceil(NOW_MS / WINDOW_MS) * WINDOW_MS;
  await scripts.setClock(windowStartMs + 5_000);
  await ask(1, 0, 85);
  await settle(1, 20);
  await scripts.setClock(windowStartMs + LATER_MS);
  await askOpen(2);
  await scripts.send('del', ...(await toldMarks()));
  await scripts.setClock(windowStartMs + 5_000 + AFTER_THE_FIRST_MS);
  await settle(2, 90);
  const events = await readEvents();
  expect(events.map(({ type }) => type)).toEqual(['limit.warning', 'limit.warning']);
  expect(new Set(events.map(({ id }) => id)).size).toBe(2);
});

describe('requests that share a run', () => {
  const order = (number: number, output: number, holdMicros = 0) => ({
    ...{ requestId: requestNumber(number), holdMicros, holdLeastMicros: holdMicros },
    tokens: { input: 0, output, outputLeast: output, isOutputOpen: false },
  });

  it('tell of the limit that refuses one, although another is refused as too large', async () => {
    await setKeyList('o,60000,100,b;');
    await ask(1, 0, 60);
    const replies = await scripts.admitTogether([order(2, 50), order(3, 500)]);
    expect(replies.map(({ kind }) => kind)).toEqual(['limit', 'too_large']);
    expect(await told()).toEqual(['limit.reached 60']);
  });

  it('tell of every limit that refuses one of them, and of each once', async () => {
    await setKeyList('o,60000,100,b;i,60000,100,b;');
    await scripts.setKey({ cap: 500 });
    await ask(1, 60, 60);
    const input = { input: 50, output: 0, outputLeast: 0, isOutputOpen: false };
    const replies = await scripts.admitTogether([
      order(2, 50),
      { ...order(3, 0), tokens: input },
      { ...order(4, 0), tokens: input },
      order(5, 1, 600),
    ]);
    expect(replies.map(({ kind }) => kind)).toEqual(['limit', 'limit', 'limit', 'cap']);
    const events = await readEvents();
    expect(events.map(({ unit }) => unit).sort()).toEqual([
      ...['credits', 'input_tokens', 'output_tokens'],
    ]);
  });
});
