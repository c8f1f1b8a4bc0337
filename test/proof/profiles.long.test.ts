import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import type { ProfileName } from './support/profiles.ts';
import { runProof } from './support/run-proof.ts';

/**
 * Longer runs find more: `PROOF_SECONDS=600`. A seed repeats the choices of a run, but not its
 * timing.
 */
const SECONDS = Number(process.env['PROOF_SECONDS'] ?? 5);
const SEED = Number(process.env['PROOF_SEED'] ?? Date.now() % 1_000_000);
const TEST_TIMEOUT_MS = SECONDS * 1_000 + 240_000;

afterAll(stopRedisServers);

async function run(profile: ProfileName) {
  const result = await runProof({ profile, seconds: SECONDS, seed: SEED, patches: [] });
  const { violations, ...figures } = result;
  console.log(JSON.stringify({ proof: figures, violations: violations.length }));
  return result;
}

describe('four processes of random clients', () => {
  it(
    'never spend what is not there, nor pay twice, whatever dies and changes meanwhile',
    async () => {
      const { violations, refused, settled, renewed, ...figures } = await run('money');
      expect([violations, figures.failed]).toEqual([[], 0]);
      // A run proves nothing about an event that did not happen.
      expect(Object.keys(refused)).toEqual(
        expect.arrayContaining(['cap', 'balance', 'revoked', 'suspended']),
      );
      expect(Object.keys(settled)).toEqual(
        expect.arrayContaining(['charge', 'release', 'late', 'orphan', 'repeated']),
      );
      expect(renewed).toHaveProperty('active');
      expect(figures.kills).toBeGreaterThan(0);
      expect(figures.months).toBeGreaterThanOrEqual(3);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'never pass a limit of any unit, window and level, and everything counts where it was admitted',
    async () => {
      const { violations, refused, settled, ...figures } = await run('lists');
      expect([violations, figures.failed]).toEqual([[], 0]);
      expect(Object.keys(refused)).toEqual(
        expect.arrayContaining([
          'limit',
          'cap',
          'balance',
          'users_full',
          'user_missing',
          'revoked',
        ]),
      );
      expect(Object.keys(settled)).toEqual(
        expect.arrayContaining(['charge', 'release', 'late', 'repeated']),
      );
      expect(figures.kills).toBeGreaterThan(0);
      expect(figures.months).toBeGreaterThanOrEqual(3);
      expect(figures.limitsChecked).toBeGreaterThan(100);
      expect(figures.limitsFull).toBeGreaterThan(0);
    },
    TEST_TIMEOUT_MS,
  );

  it(
    'are refused by a rate limit only when it is reached, and until its first free millisecond',
    async () => {
      const { violations, refused, fullLimiters, ...figures } = await run('rate');
      expect([violations, figures.failed]).toEqual([[], 0]);
      expect(Object.keys(refused).sort()).toEqual(['cap', 'rate of account', 'rate of key']);
      expect(fullLimiters).toBeGreaterThan(6);
    },
    TEST_TIMEOUT_MS,
  );
});
