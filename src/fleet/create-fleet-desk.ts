import { showTime } from '../lib/time/show-time.ts';
import type { ClusterView, FleetDesk, NodeAnswer } from '../ops/fleet-desk.ts';
import { OpsProblem } from '../ops/ops-problem.ts';
import type { Member } from '../ops/schemas/cluster-schemas.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { FLEET_KEYS } from '../redis/redis-keys.ts';
import { readHistory } from './fleet-history.ts';
import type { Heartbeat } from './heartbeat.ts';
import { type NodeDetail, unpackNode } from './own-node.ts';
import { type FleetSnapshot, readMembers } from './read-members.ts';
import type { RedisClock } from './redis-clock.ts';
import type { ReloadNodes } from './reload-nodes.ts';
import { countVersions, showMember, showMembers, stateOf } from './show-members.ts';

const RETRY_AFTER_S = 2;

interface FleetDeskOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly run: string;
  readonly heartbeat: Pick<Heartbeat, 'name' | 'read'>;
  readonly readDetail: () => NodeDetail;
  readonly reloadNodes: ReloadNodes;
  readonly redisClock: RedisClock;
}

/** Answers for all nodes. It reads what they said last, and asks none of them. */
export function createFleetDesk(options: FleetDeskOptions): FleetDesk {
  const { connection, run, heartbeat, readDetail, reloadNodes, redisClock } = options;
  let isReloading = false;

  const readOwn = (): Member => {
    const own = { id: heartbeat.name(), run, heardMs: redisClock.nowMs(), hasEnded: false };
    return showMember({ ...heartbeat.read(), ...own }, own.heardMs);
  };

  return {
    async readCluster() {
      const reading = await readMembers(connection).catch(() => undefined);
      if (reading === undefined) return viewCluster('out', heartbeat.name(), [readOwn()]);
      const nodes = showMembers(reading);
      const name = heartbeat.name();
      if (reading.members.some((member) => member.run === run))
        return viewCluster('up', name, nodes);
      // The earlier run of this node may still have the name.
      const others = nodes.filter(({ id }) => id !== name);
      return viewCluster('up', name, [...others, readOwn()]);
    },

    async findNode(id) {
      if (id === heartbeat.name()) {
        const { state, heard_at } = readOwn();
        return { id, state, heard_at, ...readDetail() };
      }
      const reading = await readMembers(connection).catch(refuseOutage);
      const packed = await connection.send('hget', [FLEET_KEYS.details, id]).catch(refuseOutage);
      return viewNode(id, reading, String(packed));
    },

    async findNodesWithoutLists() {
      const { members, nowMs } = await readMembers(connection).catch(refuseOutage);
      const running = members.filter((member) => stateOf(member, nowMs) !== 'gone');
      return running.filter((member) => member.limits_format === undefined).map(({ id }) => id);
    },

    readHistory: () => readHistory(connection, redisClock.nowMs()).catch(refuseOutage),

    async reloadAll(who) {
      if (isReloading) {
        throw new OpsProblem(503, 'not_now', 'this node has all nodes reload already', {
          headers: { 'retry-after': String(RETRY_AFTER_S) },
        });
      }
      isReloading = true;
      try {
        const { members, nowMs } = await readMembers(connection).catch(refuseOutage);
        const others = members.filter(
          (member) => member.run !== run && stateOf(member, nowMs) === 'up',
        );
        return await reloadNodes([{ id: heartbeat.name(), run }, ...others], who);
      } finally {
        isReloading = false;
      }
    },
  };
}

function viewCluster(
  state: 'up' | 'out',
  answeredBy: string,
  nodes: readonly Member[],
): ClusterView {
  const { config, catalogue, version } = countVersions(nodes);
  return {
    answered_by: answeredBy,
    fleet: { state },
    nodes: [...nodes],
    versions_differ: { config: config > 1, catalogue: catalogue > 1, version: version > 1 },
  };
}

function viewNode(
  id: string,
  { members, nowMs }: FleetSnapshot,
  packed: string,
): NodeAnswer | undefined {
  const member = members.find((each) => each.id === id);
  const detail = unpackNode(packed);
  if (member === undefined || detail === undefined) return undefined;
  return { id, state: stateOf(member, nowMs), heard_at: showTime(member.heardMs), ...detail };
}

function refuseOutage(cause: unknown): never {
  throw new OpsProblem(
    503,
    'store_unavailable',
    'Redis does not answer, so only this node is known',
    {
      headers: { 'retry-after': String(RETRY_AFTER_S) },
      cause,
    },
  );
}
