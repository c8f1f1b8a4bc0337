import type { Infer } from '../../src/protocol/inference.ts';
import { createAnswerMemory } from '../../src/upstream/answer-memory.ts';
import {
  createHttpUpstream,
  type HttpUpstreamOptions,
} from '../../src/upstream/create-http-upstream.ts';

/** A chat upstream at this port. */
export function createUpstream(port: number, options: Partial<HttpUpstreamOptions> = {}): Infer {
  return createHttpUpstream({
    name: 'main',
    kind: 'chat',
    url: `http://127.0.0.1:${port}`,
    apiKey: undefined,
    headers: {},
    tls: {},
    modelNames: {},
    unknownFields: 'pass',
    outputLimitFields: {},
    accepts: {},
    sampling: {},
    concurrencyMax: 1,
    timeouts: { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000 },
    clock: { nowMs: () => 1e12 },
    memory: createAnswerMemory({ waitBytes: 1e9, heldBytesMax: 1e9 }),
    ...options,
  });
}
