import type { Asked } from './ask.ts';
import { PLANS } from './world.ts';

/** How the clients were served: how often, how long not at all, and how late. */
export function measureService(asked: readonly Asked[], overMs: number) {
  const others: Record<string, number> = {};
  const headsOfAccount = new Map<string, number[]>();
  const heads: number[] = [];
  let [answered, answeredAfter, waitMaxMs] = [0, 0, 0];
  for (const { key, sentMs, headMs, status, end } of asked) {
    waitMaxMs = Math.max(waitMaxMs, headMs - sentMs);
    if (end === 'answered' && sentMs > overMs) answeredAfter += 1;
    if (end === 'answered') answered += 1;
    else others[end] = (others[end] ?? 0) + 1;
    if (status !== 200) continue;
    heads.push(headMs);
    if (key.account.isPoor || key.account.requestsMax < PLANS.team) continue;
    const { id } = key.account;
    const ofAccount = headsOfAccount.get(id) ?? [];
    headsOfAccount.set(id, ofAccount);
    ofAccount.push(headMs);
  }
  return {
    ...{ requests: asked.length, answered, answeredAfter, others },
    waitMaxMs: Math.round(waitMaxMs),
    outageMs: findLongestGapMs(heads),
    accountOutageMs: Math.max(...[...headsOfAccount.values()].map(findLongestGapMs)),
  };
}

export function describeLongestWait(asked: readonly Asked[]): string {
  const waitMs = ({ headMs, sentMs }: Asked) => headMs - sentMs;
  const [longest] = asked.toSorted((one, other) => waitMs(other) - waitMs(one));
  if (longest === undefined) return 'nothing was asked';
  const { end, url, requestId } = longest;
  return `the longest wait was ${Math.round(waitMs(longest))} ms: ${end}, ${url}, ${requestId}`;
}

function findLongestGapMs(times: readonly number[]): number {
  const sorted = [...times].sort((one, other) => one - other);
  const gaps = sorted.slice(1).map((time, index) => time - (sorted[index] ?? time));
  return Math.round(Math.max(0, ...gaps));
}
