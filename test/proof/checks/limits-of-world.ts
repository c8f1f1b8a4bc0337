import { decodeLimits } from '../../../src/limits/encode-limits.ts';
import type { Limit, LimitUnit } from '../../../src/limits/limit.ts';
import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { LimitLevel } from '../../../src/protocol/rates/limit-state.ts';
import { isSoftAccount } from '../clients/run-list-client.ts';
import type { ProofAccount } from '../support/world.ts';

/** A limit that no request passes, whatever the state in Redis says. */
export interface HardLimit {
  readonly level: LimitLevel;
  /** Of an end user: the key or group that has the template. */
  readonly id: string;
  readonly accountId: string;
  readonly unit: string;
  /** In ms; 1, 2, 3 for a day, a week, a month. */
  readonly window: number;
  readonly amount: number;
}

const LETTERS: Readonly<Record<LimitUnit, string>> = {
  requests: 'r',
  tokens: 't',
  input_tokens: 'i',
  output_tokens: 'o',
  credits: 'c',
};
const PERIODS = { day: 1, week: 2, month: 3 } as const;

export function limitsOfWorld(world: readonly ProofAccount[], plans: PlanLimits): HardLimit[] {
  return world.flatMap((account) => {
    const { accountId, plan, keys, groups = [], limits = [] } = account;
    const terms = plans[plan];
    const ofPlan = typeof terms === 'object' ? decodeLimits(terms.list) : [];
    const harden = (level: LimitLevel, id: string, all: readonly Limit[]) =>
      all.flatMap(({ unit, window, amount, action }): HardLimit[] => {
        const isSoft = isSoftAccount(account) && unit.includes('tokens');
        if (action !== 'block' || isSoft) return [];
        const ms = typeof window === 'number' ? window : PERIODS[window];
        return [{ level, id, accountId, unit: LETTERS[unit], window: ms, amount }];
      });
    const ofKeys = keys.flatMap(({ keyId, bounds }) =>
      bounds === undefined ? [] : [{ level: 'key' as const, id: keyId, bounds }],
    );
    const ofGroups = groups.map(({ groupId, bounds }) => {
      return { level: 'group' as const, id: groupId, bounds };
    });
    return [
      ...harden('account', accountId, [...limits, ...ofPlan]),
      ...[...ofKeys, ...ofGroups].flatMap(({ level, id, bounds }) => [
        ...harden(level, id, bounds.limits),
        ...harden('user', id, bounds.userLimits),
      ]),
    ];
  });
}
