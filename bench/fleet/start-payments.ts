import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../test/proof/support/random.ts';
import type { FleetAccount } from './fleet-world.ts';
import type { VirtualNode } from './virtual-node.ts';

const PAYMENT_MICROS = 5_000;
const PAYMENT_PAUSE_MS = 500;

interface PaymentsOptions {
  readonly operator: Pick<VirtualNode, 'directory'>;
  readonly world: readonly FleetAccount[];
  readonly random: Random;
}

/** Pays poor accounts again and again. Returns what was acknowledged. */
export function startPayments({ operator, world, random }: PaymentsOptions) {
  const poor = world.filter(({ kind }) => kind === 'tight');
  const paid = new Map<string, number>();
  let isOver = false;
  const run = async () => {
    for (let n = 0; !isOver; n++) {
      const { accountId } = random.pick(poor);
      const order = { micros: PAYMENT_MICROS, id: `more-${n}`, note: '' };
      await operator.directory.addCredits(accountId, order).then(
        () => paid.set(`${accountId} more-${n}`, PAYMENT_MICROS),
        () => {},
      );
      await sleep(PAYMENT_PAUSE_MS);
    }
  };
  const running = run();
  return {
    async stop() {
      isOver = true;
      await running;
      return paid;
    },
  };
}
