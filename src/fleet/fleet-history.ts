import { pack } from 'msgpackr';
import { showTime } from '../lib/time/show-time.ts';
import { type HistoryRow, historyAnswer } from '../ops/schemas/cluster-schemas.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { FLEET_KEYS } from '../redis/redis-keys.ts';
import type { HeardBeat } from './beat.ts';
import { showTraffic } from './traffic.ts';
import { ROW_MS } from './traffic-rows.ts';

/** An hour. */
const ROWS_MAX = 360;
/** A row is added up when every node has had the time to write its part: three beats. */
const GRACE_MS = 3_000;
/** A last row that is further ahead came from another clock. */
export const SLOTS_BACK_MAX = 30;

type Connection = Pick<RedisConnection, 'send'>;

const { lease, history, members, details } = FLEET_KEYS;
const script = loadLuaScript(
  new URL('./add-history-row.lua', import.meta.url),
  ['lease', 'history', 'members', 'details'],
  ['run', 'slot', 'row', 'rows_max', 'slots_back_max', 'forgotten'],
);
const storedRow = historyAnswer.shape.data.element.omit({ at: true });

interface RowOrder {
  readonly run: string;
  readonly row: { readonly slot: number; readonly row: Omit<HistoryRow, 'at'> } | undefined;
  readonly forgotten: readonly HeardBeat[];
}

/** Adds a row and forgets members. Does nothing if the run does not hold the lease. */
export async function addHistoryRow(
  connection: Connection,
  { run, row, forgotten }: RowOrder,
): Promise<void> {
  const names = forgotten.flatMap(({ id, heardMs }) => [id, String(heardMs)]);
  await script.call(
    connection,
    { lease, history, members, details },
    {
      run,
      slot: row?.slot ?? 0,
      row: row === undefined ? '' : JSON.stringify(row.row),
      rows_max: ROWS_MAX,
      slots_back_max: SLOTS_BACK_MAX,
      forgotten: pack(names),
    },
  );
}

/** The last slot that every node has reported. */
export function lastSlotAt(nowMs: number): number {
  return Math.floor((nowMs - GRACE_MS) / ROW_MS) - 1;
}

/** Adds up what the members did in a slot. Undefined if none of them reports it. */
export function addUpSlot(
  found: readonly Pick<HeardBeat, 'rows'>[],
  slot: number,
): RowOrder['row'] {
  const parts = found.flatMap(({ rows }) => rows.filter((row) => row.slot === slot));
  if (parts.length === 0) return undefined;
  return { slot, row: { nodes: parts.length, ...showTraffic(parts.map((part) => part.traffic)) } };
}

/** The rows of the last hour, the oldest first. */
export async function readHistory(connection: Connection, nowMs: number): Promise<HistoryRow[]> {
  const rows = (await connection.send('lrange', [history, -ROWS_MAX, -1])) as string[];
  return rows.flatMap((text) => parseRow(text, nowMs) ?? []);
}

function parseRow(text: string, nowMs: number): HistoryRow | undefined {
  const atMs = Number(text.slice(0, text.indexOf('|'))) * ROW_MS;
  if (!(atMs > nowMs - (ROWS_MAX + 1) * ROW_MS && atMs <= nowMs)) return undefined;
  try {
    const row = storedRow.parse(JSON.parse(text.slice(text.indexOf('|') + 1)));
    return { at: showTime(atMs), ...row };
  } catch {
    return undefined;
  }
}
