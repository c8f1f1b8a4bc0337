import { z } from 'zod';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { FLEET_KEYS, FLEET_LIVE_CHANNEL } from '../redis/redis-keys.ts';
import type { FleetMessage } from './fleet-messages.ts';
import { trafficRow } from './traffic-rows.ts';

/** A node that was not heard from for this long is gone. */
export const LIFE_MS = 5_000;

const count = z.int().min(0);

/** What a node says about itself. A node of a later version may say more. */
const beat = z.object({
  state: z.enum(['up', 'draining']),
  uptime_ms: z.number(),
  version: z.string(),
  ops_url: z.string().nullable(),
  config: z.object({ path: z.string().nullable(), version: z.string(), hash: z.string() }),
  catalogue_version: count.nullable(),
  workers: z.object({ up: count, wanted: count }),
  upstreams: z.array(z.object({ name: z.string(), state: z.string() })),
  redis: z.object({ state: z.enum(['up', 'out', 'unknown']) }),
  is_ingesting: z.boolean(),
  sweeps: count,
  /** Absent from nodes that know no lists of limits. */
  limits_format: count.optional(),
  open: count,
  requests_per_s: z.number().min(0),
  rows: z.array(trafficRow),
});

export type Beat = z.infer<typeof beat>;

/** The last beat of a node, as Redis has it. */
export interface HeardBeat extends Beat {
  readonly id: string;
  readonly run: string;
  readonly heardMs: number;
  /** Whether the node said that it was ending. */
  readonly hasEnded: boolean;
}

interface BeatOrder {
  readonly nodeId: string;
  readonly run: string;
  readonly beat: Beat;
  readonly detail: string;
  readonly hasEnded: boolean;
  /** What the holder of the lease says about all members; '' if there is nothing new. */
  readonly facts: string;
  readonly traffic: FleetMessage;
  readonly isListening: boolean;
}

interface BeatReply {
  /** The clock of Redis. */
  readonly nowMs: number;
  readonly name: string;
  readonly isHolder: boolean;
  readonly facts: string;
  readonly isListened: boolean;
}

const { members, details, lease, facts, listened } = FLEET_KEYS;
const script = loadLuaScript(
  new URL('./beat.lua', import.meta.url),
  ['members', 'details', 'lease', 'facts', 'listened'],
  [
    ...(['node_id', 'run', 'beat', 'detail', 'has_ended', 'life_ms', 'told_facts'] as const),
    ...(['traffic', 'channel', 'is_listening'] as const),
  ],
);

export async function sendBeat(
  connection: Pick<RedisConnection, 'send'>,
  order: BeatOrder,
): Promise<BeatReply> {
  const reply = await script.call(
    connection,
    { members, details, lease, facts, listened },
    {
      node_id: order.nodeId,
      run: order.run,
      beat: JSON.stringify(order.beat),
      detail: order.detail,
      has_ended: order.hasEnded ? 1 : 0,
      life_ms: LIFE_MS,
      told_facts: order.facts,
      traffic: JSON.stringify(order.traffic),
      channel: FLEET_LIVE_CHANNEL,
      is_listening: order.isListening ? 1 : 0,
    },
  );
  const [nowMs, name, isHolder, text, isListened] = reply as [number, string, 0 | 1, string, 0 | 1];
  return { nowMs, name, isHolder: isHolder === 1, facts: text, isListened: isListened === 1 };
}

/** Undefined if it cannot be read. */
export function parseMember(id: string, text: string): HeardBeat | undefined {
  const [, at = '', run = '', hasEnded, json = ''] =
    /^(\d{1,15})\|([^|]*)\|([01])\|(.*)$/s.exec(text) ?? [];
  try {
    const heard = { id, run, heardMs: Number(at), hasEnded: hasEnded === '1' };
    return { ...beat.parse(JSON.parse(json)), ...heard };
  } catch {
    return undefined;
  }
}
