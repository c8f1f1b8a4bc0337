import { z } from 'zod';
import type { Activity } from '../messages/activity.ts';
import { packedTraffic, packTraffic } from './traffic.ts';

/** How much time each row of the history covers. */
export const ROW_MS = 10_000;
/** A node keeps its last rows, so that if the node that adds them up dies, the next one can. */
const ROWS_KEPT = 2;

/** What one node did from `slot * ROW_MS` on, by the clock of Redis. */
export const trafficRow = z.object({ slot: z.int(), traffic: packedTraffic });
type TrafficRow = z.infer<typeof trafficRow>;

interface TrafficRows {
  add(activities: readonly Activity[]): void;
  /** Ends the row when its time is over. */
  look(nowMs: number, open: number): void;
  /** The last rows that are over. */
  read(): readonly TrafficRow[];
}

export function createTrafficRows(): TrafficRows {
  let rows: TrafficRow[] = [];
  let gathered: Activity[] = [];
  let current: number | undefined;
  return {
    add: (activities) => void gathered.push(...activities),
    look(nowMs, open) {
      const slot = Math.floor(nowMs / ROW_MS);
      if (slot === current) return;
      if (current !== undefined) {
        rows = [...rows, { slot: current, traffic: packTraffic(gathered, open) }].slice(-ROWS_KEPT);
        gathered = [];
      }
      current = slot;
    },
    read: () => rows,
  };
}
