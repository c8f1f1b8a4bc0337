import { beforeAll } from 'vitest';
import { type Gateway, type GatewayOptions, startGateway } from './servers/start-gateway.ts';
import { useCleanUp } from './use-clean-up.ts';

/** A simulated upstream without delays. */
export const FAST_UPSTREAM =
  'upstreams: [{name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}]\n';
export const FAST_CONFIG = `workers: 1\n${FAST_UPSTREAM}`;

/** Starts one gateway for all tests of a file. Call it at the top of the file. */
export function useGateway(options: GatewayOptions = {}): () => Gateway {
  const cleanUp = useCleanUp();
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    gateway = await startGateway({ ...options, cleanUp });
  });
  return () => {
    if (gateway === undefined) throw new Error('the gateway has not started');
    return gateway;
  };
}
