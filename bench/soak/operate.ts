import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakNode } from './start-soak-nodes.ts';
import { createSoakKey, KEY_CONTROLS, pickOne, type World } from './world.ts';

const PAUSE_MS = 500;
const PAYMENT = 0.02;
const GOOD_KEYS_MIN = 20;

interface OperatorLinks {
  readonly world: World;
  readonly nodes: readonly SoakNode[];
  readonly isOver: () => boolean;
  readonly onDone: (what: string) => void;
}

/** Pays, and creates, rotates and revokes keys, one operation at a time, through either node. */
export async function operate({ world, nodes, isOver, onDone }: OperatorLinks): Promise<void> {
  const acts: Readonly<Record<string, () => Promise<void>>> = {
    async pay() {
      const { id } = pickOne(world.accounts.filter(({ isPoor }) => isPoor));
      const payment = { amount: PAYMENT, id: `pay-${crypto.randomUUID()}` };
      // The same payment goes to both nodes at once. It must count only once.
      await Promise.all(
        nodes.map(({ admin }) => admin('POST', `/accounts/${id}/credits`, payment)),
      );
    },
    async create() {
      const account = pickOne(world.accounts);
      world.keys.push(await createSoakKey(pickOne(nodes).admin, account, pickOne(KEY_CONTROLS)));
    },
    async rotate() {
      const key = pickOne(goodKeys(world));
      const body = { overlap_seconds: pickOne([0, 2]) };
      const path = `/keys/${key.id}/rotate`;
      key.text = (await pickOne(nodes).admin<{ key: string }>('POST', path, body)).key;
    },
    async revoke() {
      const key = pickOne(goodKeys(world));
      await pickOne(nodes).admin('POST', `/keys/${key.id}/revoke`, {});
      key.revokedMs = performance.now();
      if (goodKeys(world).length < GOOD_KEYS_MIN) await acts['create']?.();
    },
  };
  while (!isOver()) {
    await sleep(PAUSE_MS);
    const what = pickOne(Object.keys(acts));
    await acts[what]?.();
    onDone(what);
  }
}

const goodKeys = ({ keys }: World) => keys.filter(({ revokedMs }) => revokedMs === undefined);
