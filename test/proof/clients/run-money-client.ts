import { setTimeout as sleep } from 'node:timers/promises';
import type { Tokens } from '../support/event-log.ts';
import type { Random } from '../support/random.ts';
import { type ProofAccount, unitOf } from '../support/world.ts';
import { type ClientOptions, createClient, type Demand, type OpenRequest } from './client.ts';

const HOLD_MAX = 600;
/** How many settled requests are kept to be settled again, some time later. */
const REMEMBERED_MAX = 50;

/** What requests count in lists of limits. */
export interface TokenChoices {
  readonly pickDemand: (account: ProofAccount, random: Random) => Demand;
  readonly pickUsed: (request: OpenRequest, random: Random) => Tokens | undefined;
}

/** A client that runs into caps and balances, and makes every mistake that a client can make. */
export async function runMoneyClient(
  options: ClientOptions,
  isStopping: () => boolean,
  choices?: TokenChoices,
): Promise<void> {
  const { world, random, leaseMs } = options;
  const client = createClient(options);
  const remembered: Awaited<ReturnType<typeof client.settle>>[] = [];
  const pause = (maxMs: number) => sleep(random.int(1, maxMs));

  /** Some amount with odd last digits. */
  const amount = (unit: number, max: number) =>
    Math.min(random.int(1, max) * unit + Math.floor(random.next() * unit), max * unit);

  const runRequest = async (request: OpenRequest) => {
    const { held } = request;
    const unit = unitOf(request.account);
    const isOverrun = random.chance(0.25);
    const above = isOverrun ? amount(unit, HOLD_MAX) : 0;
    const actual = random.chance(0.1) ? 0 : Math.floor(random.next() * held) + above;
    for (let renewals = random.int(0, 2); renewals > 0; renewals--) {
      await pause(leaseMs / 2);
      const reply = await client.renew(request, Math.floor(actual / renewals));
      if (reply === 'revoked' || reply === 'suspended') break;
    }
    await pause(random.chance(0.15) ? 3 * leaseMs : leaseMs / 2);
    if (random.chance(0.04)) return;
    const used = choices?.pickUsed(request, random);
    const times = random.chance(0.1) ? 3 : 1;
    remembered.push(await client.settle(request, actual, { times, used }));
  };

  while (!isStopping()) {
    const account = random.pick(world);
    const key = random.pick(account.keys);
    const micros = random.chance(0.03) ? 0 : amount(unitOf(account), HOLD_MAX);
    const leastMicros = random.chance(0.2) ? Math.ceil(micros / 4) : micros;
    const times = random.chance(0.1) ? 2 : 1;
    const demand = choices?.pickDemand(account, random);
    const more = { times, ...(demand !== undefined && { demand }) };
    const reply = await client.admit(account, key, { micros, leastMicros }, more);
    if (reply !== undefined && 'held' in reply) await runRequest(reply);
    else await pause(20);
    if (remembered.length > REMEMBERED_MAX || random.chance(0.02)) {
      const again = remembered.shift();
      if (again !== undefined) await client.settleAgain(again);
    }
  }
}
