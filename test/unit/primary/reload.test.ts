import { expect, it } from 'vitest';
import type { Operator } from '../../../src/accounts/audit/audit-entry.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { createReload, type ReloadEnd } from '../../../src/primary/reload.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { waitUntil } from '../../support/wait-until.ts';

const WAITING_MAX = 16;
const WHO: Operator = { via: 'api', token: 'abc', address: '127.0.0.1', operator: null };

/** Reloads that end when the test says so. */
function createScene() {
  const ends: ReloadEnd[] = [];
  const runs: ((error?: Error) => void)[] = [];
  let version = 1;
  const reload = createReload({
    readNext: async () => version + 1,
    takeOver: (next) =>
      new Promise((resolve, reject) => {
        runs.push((error) => {
          if (error !== undefined) return reject(error);
          version = next;
          resolve();
        });
      }),
    inUse: () => version,
    versionOf: (settings) => `v${settings}`,
    onEnd: async ({ end }) => {
      ends.push(end);
    },
    log: createMemoryLog(),
  });
  /** Ends the running reload, once it has begun. */
  const endNext = async (error?: Error) => {
    await waitUntil(() => runs.length > 0, 'a reload has begun');
    runs.shift()?.(error);
  };
  return { reload, endNext, ends, runs };
}

it('a reload that is asked for while one runs is done afterwards, once for all who asked', async () => {
  const { reload, endNext, ends, runs } = createScene();
  const first = reload(WHO);
  const others = [reload(WHO), reload(WHO), reload(WHO)];
  await endNext();
  expect(await first).toEqual({ kind: 'reloaded', configVersion: 'v2' });
  await endNext();
  for (const other of await Promise.all(others)) {
    expect(other).toEqual({ kind: 'reloaded', configVersion: 'v3' });
  }
  expect([ends.length, runs.length]).toEqual([4, 0]);
});

it('no more than a named number wait; the rest is told so at once', async () => {
  const { reload, endNext } = createScene();
  const waiting = Array.from({ length: WAITING_MAX }, () => reload(WHO));
  expect(await reload(WHO)).toEqual({ kind: 'busy' });
  await endNext();
  await endNext();
  await Promise.all(waiting);
  const again = reload(WHO);
  await endNext();
  expect(await again).toEqual({ kind: 'reloaded', configVersion: 'v4' });
});

it('who does not wait for the end learns that the reload still runs, and who does, how it ended', async () => {
  const { reload, endNext, ends } = createScene();
  const waiting = reload(WHO, 3_600_000);
  expect(await reload(WHO, 0)).toEqual({ kind: 'running', configVersion: 'v1' });
  await endNext();
  expect(await waiting).toEqual({ kind: 'reloaded', configVersion: 'v2' });
  await endNext();
  await waitUntil(() => ends.length === 2, 'both have ended');
});

it('a reload whose workers do not start says why, and the next one is tried all the same', async () => {
  const { reload, endNext } = createScene();
  const failed = reload(WHO);
  const next = reload(WHO);
  await endNext(new Error('no memory'));
  expect(await failed).toEqual({ kind: 'failed', problems: ['Error: no memory'] });
  await endNext();
  expect(await next).toEqual({ kind: 'reloaded', configVersion: 'v2' });
});

it('wrong settings are refused before anything takes over', async () => {
  const reload = createReload({
    async readNext() {
      throw new ConfigError(['a: b', 'c: d'], { needsRestart: ['a'] });
    },
    takeOver: () => expect.unreachable('nothing takes over'),
    inUse: () => 1,
    versionOf: () => 'v1',
    onEnd: async () => {},
    log: createMemoryLog(),
  });
  expect(await reload(WHO)).toEqual({
    ...{ kind: 'refused', problems: ['a: b', 'c: d'], needsRestart: ['a'] },
  });
});
