import { z } from 'zod';
import { showTime } from '../lib/time/show-time.ts';
import type { Member } from '../ops/schemas/cluster-schemas.ts';
import { type HeardBeat, LIFE_MS } from './beat.ts';
import type { FleetSnapshot } from './read-members.ts';

/** How long a node that is gone is shown. */
const GONE_SHOWN_MS = 3_600_000;
/** If more are gone, the oldest are forgotten. */
const GONE_MAX = 1_000;

/** What the holder of the lease says about all members. */
const fleetFacts = z.object({
  members: z.object({ up: z.number(), draining: z.number(), gone: z.number() }),
  /** How many different ones the running nodes have. */
  versions: z.object({ config: z.number(), catalogue: z.number(), version: z.number() }),
});

export type FleetFacts = z.infer<typeof fleetFacts>;

export function parseFacts(text: string): FleetFacts | undefined {
  try {
    return fleetFacts.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function stateOf(
  { hasEnded, heardMs, state }: Pick<HeardBeat, 'hasEnded' | 'heardMs' | 'state'>,
  nowMs: number,
): Member['state'] {
  // After a failover the clock of Redis may be a different one.
  return hasEnded || Math.abs(nowMs - heardMs) >= LIFE_MS ? 'gone' : state;
}

export function showMember(member: HeardBeat, nowMs: number): Member {
  const { id, heardMs, hasEnded, uptime_ms: uptimeMs, rows: _, run: __, ...shown } = member;
  return {
    ...shown,
    id,
    state: stateOf(member, nowMs),
    has_ended: hasEnded,
    heard_at: showTime(heardMs),
    started_at: showTime(heardMs - uptimeMs),
    uptime_s: Math.floor(uptimeMs / 1_000),
  };
}

/** The members of the last hour. */
export function showMembers({ members, nowMs }: FleetSnapshot): Member[] {
  return members
    .filter(({ heardMs }) => nowMs - heardMs < GONE_SHOWN_MS)
    .map((member) => showMember(member, nowMs));
}

type Versions = Pick<Member, 'config' | 'catalogue_version' | 'version'>;

/** How many different versions there are. Nodes that are gone do not count. */
export function countVersions(
  members: readonly (Versions & { readonly state: Member['state'] })[],
): FleetFacts['versions'] {
  const running = members.filter(({ state }) => state !== 'gone');
  const count = (read: (member: Versions) => unknown) => new Set(running.map(read)).size;
  return {
    config: count(({ config }) => config.hash),
    catalogue: count((member) => member.catalogue_version),
    version: count(({ version }) => version),
  };
}

/** A node that has said that it ends is not missing, so it does not count as gone. */
export function findFacts(members: readonly Member[]): FleetFacts {
  const count = (state: Member['state']) =>
    members.filter((member) => member.state === state && !member.has_ended).length;
  return {
    members: { up: count('up'), draining: count('draining'), gone: count('gone') },
    versions: countVersions(members),
  };
}

/** The members that nobody has to see any more. */
export function findForgotten({ members, nowMs }: FleetSnapshot): readonly HeardBeat[] {
  const gone = members
    .filter((member) => stateOf(member, nowMs) === 'gone')
    .toSorted((one, other) => other.heardMs - one.heardMs);
  const isOld = ({ heardMs }: HeardBeat) => Math.abs(nowMs - heardMs) >= GONE_SHOWN_MS;
  return gone.filter((member, index) => index >= GONE_MAX || isOld(member));
}
