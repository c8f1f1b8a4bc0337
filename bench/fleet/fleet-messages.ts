import type { RequestPlans } from '../../test/support/limits/request-plans.ts';
import type { FleetAccount } from './fleet-world.ts';

/** Everything that a process of virtual nodes is told at its start. */
export interface FleetOrder {
  /** The settings of all nodes; each adds its own data folder. */
  readonly settings: string;
  readonly dir: string;
  readonly nodes: readonly string[];
  readonly plans: RequestPlans;
  readonly world: readonly FleetAccount[];
  readonly requestsPerS: number;
  readonly seed: number;
  /** Where the events of the load are written. */
  readonly eventsFile: string;
}

/** From the bench to a process. */
export type FleetCommand =
  /** All nodes hold one request with this key until it is stopped. */
  | { readonly type: 'hold'; readonly keyId: string; readonly text: string }
  | { readonly type: 'load'; readonly isOn: boolean }
  | { readonly type: 'restart'; readonly node: string }
  | { readonly type: 'end' };

/** From a process to the bench. Times are those of this machine. */
export type FleetReport =
  | { readonly type: 'up'; readonly node: string }
  | { readonly type: 'holding' | 'not_held'; readonly node: string; readonly keyId: string }
  | {
      readonly type: 'stopped';
      readonly node: string;
      readonly keyId: string;
      readonly atMs: number;
      /** Whether the node itself ended, which says nothing about the news. */
      readonly hasEnded: boolean;
    }
  | {
      readonly type: 'catalogue';
      readonly node: string;
      readonly version: number;
      readonly atMs: number;
    }
  | {
      readonly type: 'ended';
      readonly refusals: Readonly<Record<string, number>>;
      readonly faults: readonly string[];
    };
