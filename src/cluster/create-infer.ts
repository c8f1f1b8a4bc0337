import { estimateTokens } from '../catalogue/estimate-tokens.ts';
import type { Config, UpstreamConfig } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Infer } from '../protocol/inference.ts';
import { createRetryBudget } from '../routing/retry-budget.ts';
import { createRouter } from '../routing/router.ts';
import { createWaitingRoom } from '../routing/waiting-room.ts';
import { createHttpUpstream } from '../upstream/create-http-upstream.ts';
import { inferWithRetries } from '../upstream/retry.ts';
import { createSimulatedUpstream } from '../upstream/simulated/create-simulated-upstream.ts';
import { traceCalls } from '../upstream/trace-calls.ts';

/** Of the first tries, how many may be repeated; some more are there for a moment's trouble. */
const RETRY_SHARE = 0.2;
const RETRY_BURST_MAX = 20;
const WAITERS_PER_MODEL_MAX = 200;

/** All upstreams of a worker as one: routed, balanced and retried. */
export function createInfer(config: Config, instance: string, clock: Clock): Infer {
  const random = Math.random;
  const router = createRouter({
    routes: new Map(config.models.map(({ id, routes }) => [id, routes])),
    upstreams: config.upstreams,
    clock,
    random,
  });
  return inferWithRetries({
    room: createWaitingRoom({ router, waitersPerModelMax: WAITERS_PER_MODEL_MAX }),
    upstreams: new Map(
      config.upstreams.map((upstream) => [
        upstream.name,
        traceCalls(upstream.name, createUpstream(upstream, { config, instance, clock })),
      ]),
    ),
    budget: createRetryBudget({ share: RETRY_SHARE, burstMax: RETRY_BURST_MAX }),
    random,
  });
}

interface Parts {
  readonly config: Config;
  readonly instance: string;
  readonly clock: Clock;
}

function createUpstream(upstream: UpstreamConfig, { config, instance, clock }: Parts): Infer {
  const { kind, url, simulated } = upstream;
  if (kind === 'simulated' || url === undefined) {
    if (simulated === undefined) throw new Error(`${upstream.name} has neither url nor simulation`);
    const countTokens: Parameters<typeof createSimulatedUpstream>[0]['countTokens'] = (request) =>
      estimateTokens(request, config.estimate.bytesPerToken).likely;
    return createSimulatedUpstream({ ...simulated, instance, clock, countTokens });
  }
  return createHttpUpstream({ ...upstream, kind, url, clock });
}
