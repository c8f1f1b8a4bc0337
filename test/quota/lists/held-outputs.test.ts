import { expect, it } from 'vitest';
import { estimateDemand } from '../../../src/catalogue/estimate-hold.ts';
import { readPage, rowsOf } from '../../support/read-docs.ts';
import { openLists, usageOf } from '../scripts/list-scene.ts';
import { NOW_MS, requestNumber } from '../scripts/open-scripts.ts';

/** What the documents say of `hold_output_max`: a limit, and clients that ask for most of it. */
const LIST = 'o,60000,40000,b;';
const ASKED_TOKENS = 32_000;
const USED_TOKENS = 500;
const CLIENTS = 10;
const ANSWER_MS = 10_000;
const PAUSE_MS = 5_000;
const MINUTE_MS = 60_000;
const FIVE_MINUTES_MS = 5 * MINUTE_MS;
const LATER_MS = 3_600_000;

const { scripts, setKeyList } = openLists();
let asked = 0;

interface Answer {
  readonly requestId: string;
  readonly fromMs: number;
}

/** Clients that ask again when they have their answer, or a while after a refusal. */
async function askForFiveMinutes(startMs: number, heldMax: number | undefined, used: number) {
  const input = { tokensMax: 0, cacheWrite: undefined, searchesMax: 0 };
  const demand = { input, outputTokensMax: ASKED_TOKENS, isElastic: false };
  const tokens = estimateDemand(demand, heldMax);
  const answers: Answer[] = [];
  let running: Answer[] = [];
  for (let nowMs = startMs; nowMs < startMs + FIVE_MINUTES_MS; nowMs += PAUSE_MS) {
    await scripts.setClock(nowMs);
    const ended = running.filter(({ fromMs }) => fromMs + ANSWER_MS <= nowMs);
    running = running.filter((answer) => !ended.includes(answer));
    const usage = usageOf(0, used);
    await scripts.settleTogether(
      ended.map(({ requestId }) => ({ requestId, usage, actualMicros: 0 })),
    );
    const orders = Array.from({ length: CLIENTS - running.length }, () => {
      asked += 1;
      return { requestId: requestNumber(asked), holdMicros: 0, tokens };
    });
    const replies = await scripts.admitTogether(orders);
    const begun = orders.flatMap(({ requestId }, index) =>
      replies[index]?.kind === 'admitted' ? [{ requestId, fromMs: nowMs }] : [],
    );
    running.push(...begun);
    answers.push(...begun);
  }
  return answers;
}

function mostInMinute(answers: readonly Answer[]): number {
  const counts = answers.map(({ fromMs: firstMs }) => {
    const isIn = ({ fromMs }: Answer) => fromMs >= firstMs && fromMs < firstMs + MINUTE_MS;
    return answers.filter(isIn).length;
  });
  return Math.max(...counts);
}

it.each([undefined, 8_000, 4_000, 1_000])(
  'of outputs of which %s tokens are held, what the documents say is admitted and used',
  async (heldMax) => {
    await setKeyList(LIST);
    const short = await askForFiveMinutes(NOW_MS, heldMax, USED_TOKENS);
    const long = await askForFiveMinutes(NOW_MS + LATER_MS, heldMax, ASKED_TOKENS);
    const name = heldMax === undefined ? 'not set' : heldMax.toLocaleString('en');
    const used = mostInMinute(long) * ASKED_TOKENS;
    const row = rowsOf(readPage('limits-and-credits')).find(([cell]) => cell === name);
    expect([name, String(short.length), used.toLocaleString('en')]).toEqual(row);
  },
);
