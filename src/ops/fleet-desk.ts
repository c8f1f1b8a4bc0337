import type { z } from 'zod';
import type { Operator } from '../accounts/audit/audit-entry.ts';
import type {
  clusterAnswer,
  HistoryRow,
  NodeReload,
  nodeAnswer,
} from './schemas/cluster-schemas.ts';

export type ClusterView = Pick<
  z.infer<typeof clusterAnswer>,
  'answered_by' | 'fleet' | 'nodes' | 'versions_differ'
>;
export type NodeAnswer = z.infer<typeof nodeAnswer>;

/** Answers what operators ask of all nodes that share one Redis. */
export interface FleetDesk {
  /** Never rejects: while Redis is out, it has only the node that answers. */
  readCluster(): Promise<ClusterView>;
  /** Undefined if no such node was heard in the last hour. Throws while Redis is out. */
  findNode(id: string): Promise<NodeAnswer | undefined>;
  /** The ids of running nodes that know no lists of limits. Throws while Redis is out. */
  findNodesWithoutLists(): Promise<readonly string[]>;
  /** The rows of the last hour, the oldest first. Throws while Redis is out. */
  readHistory(): Promise<readonly HistoryRow[]>;
  /** Reloads one node after the other, and stops at the first that does not. */
  reloadAll(who: Operator): Promise<readonly NodeReload[]>;
}
