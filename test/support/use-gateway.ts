import { afterAll, beforeAll } from 'vitest';
import { type Gateway, type GatewayOptions, startGateway } from './servers/start-gateway.ts';

/** A simulated upstream without delays. */
export const FAST_UPSTREAM =
  'upstreams: [{name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}]\n';
export const FAST_CONFIG = `workers: 1\n${FAST_UPSTREAM}`;

/** Starts one gateway for all tests of a file. Call it at the top of the file. */
export function useGateway(options: GatewayOptions = {}): () => Gateway {
  const undos: (() => void | Promise<void>)[] = [];
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    gateway = await startGateway({ ...options, cleanUp: (undo) => undos.push(undo) });
  });
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });
  return () => {
    if (gateway === undefined) throw new Error('the gateway has not started');
    return gateway;
  };
}
