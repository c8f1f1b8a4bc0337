import { expect, it } from 'vitest';
import { METRICS } from '../../../src/metrics/metrics.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import type { OwnedKey } from '../../../src/protocol/admission.ts';
import { createAnswerKeeper } from '../../../src/worker/keeper/create-answer-keeper.ts';

const MIB = 1024 ** 2;
const ANSWER = { id: 'resp_1', previousId: undefined, output: '[]', response: '{}' };

it('what a customer asked in many running requests leaves room for what others asked', async () => {
  const metrics = createProcessMetrics({
    models: [],
    upstreams: [],
    versions: [],
    nodeVersions: [],
  });
  const keeper = createAnswerKeeper({
    terms: { ttlMs: 1_000, answerBytesMax: 2 * MIB, accountBytesMax: 8 * MIB, totalBytesMax: 1e9 },
    memory: { filledShare: () => 0 },
    breakerOf: () => {
      throw new Error('the store is out');
    },
    metrics,
    clock: { nowMs: () => 0 },
  } as unknown as Parameters<typeof createAnswerKeeper>[0]);
  let keys = 0;
  const reserve = (accountId: string, bytes: number) => {
    keys += 1;
    const key = { accountId, digest: `key ${keys}`, bucket: 0 } as OwnedKey;
    return keeper.reserve(key, [{ text: 'x'.repeat(bytes) }], bytes);
  };

  // 60 MiB of the 64 MiB, each with another key.
  const many = Array.from({ length: 40 }, () => reserve('greedy', 1.5 * MIB));
  const others = Array.from({ length: 8 }, (_, index) => reserve(`other ${index}`, MIB));
  for (const reservation of [...others, ...many]) await reservation.keep(ANSWER);

  const counted = metrics.read().find(({ name }) => name === METRICS.answersKept.name)?.values;
  // Those that get as far as the store; what gave way was the oldest of the greedy customer.
  const outcomes = Object.fromEntries(
    counted?.map(({ labels, value }) => [labels['outcome'], value]) ?? [],
  );
  expect(outcomes).toMatchObject({ unavailable: 45, full: 3 });
});
