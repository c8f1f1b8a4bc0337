import type { Member } from '../../../src/ops/schemas/cluster-schemas.ts';
import type { Gateway } from '../servers/start-gateway.ts';
import { waitUntil } from '../wait-until.ts';
import { admin } from './admin.ts';

export interface UpstreamShown {
  readonly name: string;
  readonly state: string;
  readonly probe: { readonly state: string; readonly last_result: string | null } | null;
  readonly workers: readonly {
    readonly worker: number;
    readonly state: string;
    readonly in_flight: number;
    readonly max_concurrency: number;
  }[];
  readonly tries: Readonly<Record<string, number>>;
}

export interface ClusterShown {
  readonly node: { readonly id: string; readonly config: { readonly version: string } };
  readonly workers: readonly { worker: number; pid: number; state: string }[];
  readonly upstreams: readonly UpstreamShown[];
  readonly redis: { readonly state: string; readonly out_for_ms: number };
  readonly answered_by: string;
  readonly fleet: { readonly state: string };
  readonly nodes: readonly Member[];
  readonly versions_differ: Readonly<Record<'config' | 'catalogue' | 'version', boolean>>;
}

export function readCluster(gateway: Gateway): Promise<ClusterShown> {
  return admin(gateway).call<ClusterShown>('GET', '/cluster');
}

export async function readUpstream(gateway: Gateway, name: string): Promise<UpstreamShown> {
  const { upstreams } = await readCluster(gateway);
  const found = upstreams.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no upstream ${name}`);
  return found;
}

/** Waits until every worker reports this state of the upstream. */
export function waitForState(gateway: Gateway, name: string, state: string): Promise<void> {
  return waitUntil(async () => {
    const { workers } = await readUpstream(gateway, name);
    return workers.length > 0 && workers.every((worker) => worker.state === state);
  }, `${name} is ${state}`);
}

/** Waits until a node shows the fleet as wanted. */
export function waitForMembers(
  gateway: Gateway,
  isWanted: (nodes: readonly Member[]) => boolean,
  what: string,
): Promise<void> {
  let shown: readonly Member[] = [];
  return waitUntil(
    async () => {
      shown = (await readCluster(gateway)).nodes;
      return isWanted(shown);
    },
    () => `${what}; got ${JSON.stringify(shown)}`,
  );
}
