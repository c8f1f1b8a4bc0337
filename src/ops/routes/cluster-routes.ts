import { z } from 'zod';
import type { Operator } from '../../accounts/audit/audit-entry.ts';
import type { EventHub } from '../event-hub.ts';
import type { FleetDesk } from '../fleet-desk.ts';
import type { NodeState } from '../node-state.ts';
import { OpsProblem } from '../ops-problem.ts';
import type { ReloadResult } from '../reload-result.ts';
import { reloadAnswer } from '../schemas/answer-schemas.ts';
import {
  clusterAnswer,
  fleetReloadAnswer,
  historyAnswer,
  nodeAnswer,
} from '../schemas/cluster-schemas.ts';
import { eventAnswer } from '../schemas/event-schemas.ts';
import { filterText } from '../schemas/query-fields.ts';
import { showNode } from '../show-node.ts';
import { type AdminAnswer, type AdminRoute, defineAdminRoute } from './admin-route.ts';
import { sendSlowJson } from './send-slow-json.ts';

const RETRY_AFTER_S = 5;
/** How much time a row of the history covers. */
const HISTORY_ROW_S = 10;

export interface ClusterRoutesOptions {
  readonly fleet: FleetDesk;
  readonly readNode: () => NodeState;
  readonly events: Pick<EventHub, 'subscribe'>;
  readonly reload: (who: Operator) => Promise<ReloadResult>;
}

/** The routes about the nodes: their state, what they do, and their settings. */
export function createClusterRoutes(options: ClusterRoutesOptions): readonly AdminRoute[] {
  return [...createNodesRoutes(options), ...createLiveRoutes(options), ...createReloads(options)];
}

function createNodesRoutes({ fleet, readNode }: ClusterRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/cluster',
      role: 'viewer',
      summary: 'All nodes, and the node that answers as it is: its workers, upstreams and Redis',
      answer: clusterAnswer,
      async handle() {
        return {
          status: 200,
          body: { ...(await fleet.readCluster()), ...showNode(readNode()) },
        };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/cluster/nodes/{id}',
      role: 'viewer',
      summary: 'One node in full, as last reported',
      answer: nodeAnswer,
      async handle({ id }) {
        const found = await fleet.findNode(id);
        if (found === undefined) throw refuseUnknownNode(id);
        return { status: 200, body: found };
      },
    }),
  ];
}

function createLiveRoutes({ fleet, events }: ClusterRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/events',
      role: 'viewer',
      summary: 'Live events of all nodes or of one, as server-sent events',
      query: z.strictObject({ node: filterText.optional() }),
      answer: 'text/event-stream',
      part: eventAnswer,
      async handle({ query: { node }, caller }) {
        if (node !== undefined) {
          const { nodes } = await fleet.readCluster();
          if (nodes.every(({ id }) => id !== node)) throw refuseUnknownNode(node);
        }
        const operator = caller.operator?.id ?? null;
        return { stream: (response) => events.subscribe(response, { operator, node }) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/history',
      role: 'viewer',
      summary: 'What all nodes together did in the last hour, the oldest first',
      answer: historyAnswer,
      async handle() {
        return {
          status: 200,
          body: { seconds: HISTORY_ROW_S, data: await fleet.readHistory() },
        };
      },
    }),
  ];
}

function createReloads({ fleet, reload }: ClusterRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/reload',
      role: 'operator',
      summary: 'Reload the settings, like SIGHUP',
      answer: reloadAnswer,
      handle: async ({ who }) => answerReload(await reload(who)),
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/cluster/reload',
      role: 'operator',
      summary: 'Reload all nodes, one after the other; stop at the first that does not',
      answer: fleetReloadAnswer,
      async handle({ who }) {
        const reloadAll = async () => ({ nodes: await fleet.reloadAll(who) });
        return { stream: (response) => sendSlowJson(response, reloadAll) };
      },
    }),
  ];
}

function answerReload(result: ReloadResult): AdminAnswer {
  switch (result.kind) {
    case 'reloaded':
    case 'running': {
      const { kind, configVersion } = result;
      const body = { status: kind, config_version: configVersion, needs_restart: [] };
      return { status: kind === 'reloaded' ? 200 : 202, body };
    }
    case 'refused':
      throw new OpsProblem(400, 'invalid_config', 'nothing was changed: see problems', {
        details: { problems: result.problems, needs_restart: result.needsRestart },
      });
    case 'failed':
      throw new OpsProblem(500, 'reload_failed', 'the old settings hold: see problems', {
        details: { problems: result.problems },
      });
    case 'busy':
      throw new OpsProblem(503, 'not_now', 'the node starts, or too many reloads wait', {
        headers: { 'retry-after': String(RETRY_AFTER_S) },
      });
  }
}

function refuseUnknownNode(id: string): OpsProblem {
  return new OpsProblem(404, 'node_not_found', `no node ${id} was heard in the last hour`);
}
