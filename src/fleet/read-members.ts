import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { FLEET_KEYS } from '../redis/redis-keys.ts';
import { type HeardBeat, parseMember } from './beat.ts';

/** What all members said last. */
export interface FleetSnapshot {
  /** The clock of Redis. */
  readonly nowMs: number;
  readonly members: readonly HeardBeat[];
}

const { members } = FLEET_KEYS;
const script = loadLuaScript(new URL('./members.lua', import.meta.url), ['members'], []);

/** Leaves out what cannot be read. */
export async function readMembers(
  connection: Pick<RedisConnection, 'send'>,
): Promise<FleetSnapshot> {
  const reply = await script.call(connection, { members }, {});
  const [nowMs, fields] = reply as [number, string[]];
  const found: HeardBeat[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const member = parseMember(fields[at] ?? '', fields[at + 1] ?? '');
    if (member !== undefined) found.push(member);
  }
  return { nowMs, members: found.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
}
