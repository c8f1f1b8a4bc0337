import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { ClientOptions } from '../clients/client.ts';
import { runListClient } from '../clients/run-list-client.ts';
import { runMoneyClient } from '../clients/run-money-client.ts';
import { runRateClient } from '../clients/run-rate-client.ts';
import { createListPlans, createListWorld } from './list-world.ts';
import type { Random } from './random.ts';
import { createMoneyWorld, createRateWorld, type ProofAccount } from './world.ts';

export interface Profile {
  readonly windowMs: number;
  /**
   * The lease of every hold. Short if many holds must expire; otherwise so long that none expires.
   */
  readonly leaseMs: number;
  readonly createPlans: (random: Random) => PlanLimits;
  /** Whether workers are killed, the clock is set and accounts change. */
  readonly isChaotic: boolean;
  readonly createWorld: (random: Random) => ProofAccount[];
  readonly runClient: (options: ClientOptions, isStopping: () => boolean) => Promise<void>;
}

const NO_LIMIT = 1_000_000;

/** Each profile finds bugs that the others do not. */
export const PROFILES = {
  money: {
    windowMs: 1_000,
    leaseMs: 160,
    createPlans: () => ({ team: NO_LIMIT }),
    isChaotic: true,
    createWorld: createMoneyWorld,
    runClient: runMoneyClient,
  },
  rate: {
    windowMs: 1_000,
    leaseMs: 60_000,
    createPlans: () => ({ starter: 20, pro: 33, business: 81, team: NO_LIMIT }),
    isChaotic: false,
    createWorld: createRateWorld,
    runClient: runRateClient,
  },
  lists: {
    windowMs: 1_000,
    leaseMs: 160,
    createPlans: createListPlans,
    isChaotic: true,
    createWorld: createListWorld,
    runClient: runListClient,
  },
} satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
