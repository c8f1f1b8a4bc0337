import type { RedisConnection } from '../redis/connect-redis.ts';
import { addHistoryRow, addUpSlot, lastSlotAt, SLOTS_BACK_MAX } from './fleet-history.ts';
import { readMembers } from './read-members.ts';
import { findFacts, findForgotten, showMembers } from './show-members.ts';

interface FleetDuties {
  /** To be called once a second by the run that holds the lease. */
  carryOut(): Promise<void>;
  /** What the holder has to announce to all members; empty if there is nothing new. */
  takeFacts(): string;
}

/**
 * What one node does for all, so that the others need not read what every node says: it counts
 * the members, adds up the history and forgets nodes that have been gone for a long time.
 */
export function createFleetDuties(
  connection: Pick<RedisConnection, 'send'>,
  run: string,
): FleetDuties {
  let facts = '';
  let lastSlot: number | undefined;

  return {
    async carryOut() {
      const reading = await readMembers(connection);
      facts = JSON.stringify(findFacts(showMembers(reading)));
      const forgotten = findForgotten(reading);
      if (forgotten.length > 0) await addHistoryRow(connection, { run, row: undefined, forgotten });
      const slot = lastSlotAt(reading.nowMs);
      // A new holder also adds the row before, in case the last holder did not live to do so.
      const isNew = lastSlot === undefined || Math.abs(slot - lastSlot) > SLOTS_BACK_MAX;
      const firstSlot = isNew ? slot - 1 : Math.max((lastSlot ?? slot) + 1, slot - 1);
      for (let due = firstSlot; due <= slot; due++) {
        const row = addUpSlot(reading.members, due);
        if (row !== undefined) await addHistoryRow(connection, { run, row, forgotten: [] });
      }
      lastSlot = slot;
    },
    takeFacts() {
      const taken = facts;
      facts = '';
      return taken;
    },
  };
}
