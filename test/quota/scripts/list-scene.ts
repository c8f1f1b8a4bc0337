import { expect } from 'vitest';
import type { AdmitArguments } from '../../../src/quota/scripts/admit.ts';
import { encodeLedgerUsage } from '../../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../support/request-details.ts';
import { openScripts, redisKeys, requestNumber } from './open-scripts.ts';

export const GROUP = 'grp_03group';

/** The scripts, and orders and records with lists of limits. */
export function openLists() {
  const scripts = openScripts();
  const ask = (number: number, input: number, output = 0, more: Partial<AdmitArguments> = {}) =>
    scripts.admit({
      requestId: requestNumber(number),
      holdMicros: 0,
      tokens: { input, output, outputLeast: output, isOutputOpen: false },
      ...more,
    });
  return {
    scripts,
    ask,
    setKeyList: (
      list: string,
      more: { group?: string; require?: string; template?: string } = {},
    ) =>
      scripts.setKey({
        limits: `${more.group ?? ''}|${more.require ?? ''}|${list}|${more.template ?? ''}`,
      }),
    setGroup: (list: string, template = '') =>
      scripts.send('hset', redisKeys.group(GROUP), 'limits', `||${list}|${template}`),
    expectLimit: async (reply: ReturnType<typeof ask>, met: object) =>
      expect(await reply).toMatchObject({ kind: 'limit', ...met }),
  };
}

export function usageOf(input: number, output: number): Buffer {
  const nothing = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, thinking: 0, searches: 0 };
  return encodeLedgerUsage({ input, output, ...nothing }, false, DETAILS);
}
