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
  readonly node: { readonly id: string; readonly config: { readonly digest: string } };
  readonly workers: readonly { worker: number; pid: number; state: string }[];
  readonly upstreams: readonly UpstreamShown[];
  readonly redis: { readonly state: string };
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
