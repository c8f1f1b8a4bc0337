import { estimateTokens } from '../catalogue/estimate-tokens.ts';
import type { Config, ModelConfig, UpstreamConfig } from '../config/config.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { UpstreamReport } from '../messages/worker-messages.ts';
import type { FormatName } from '../protocol/format-names.ts';
import type { Infer } from '../protocol/inference.ts';
import type { Try } from '../protocol/try.ts';
import { createRetryBudget } from '../routing/retry-budget.ts';
import { createRouter, type RoutesByModel } from '../routing/router.ts';
import { shareConcurrency } from '../routing/share-concurrency.ts';
import { createTryCounts } from '../routing/try-counts.ts';
import { createWaitingRoom } from '../routing/waiting-room.ts';
import { type AnswerMemory, createAnswerMemory } from '../upstream/answer-memory.ts';
import type { ThinkingUpstreams } from '../upstream/bind-thoughts.ts';
import { createHttpUpstream } from '../upstream/create-http-upstream.ts';
import { inferWithRetries } from '../upstream/infer-with-retries.ts';
import { findForModel } from '../upstream/model-terms.ts';
import { readUpstreamTls } from '../upstream/read-upstream-tls.ts';
import { createSimulatedUpstream } from '../upstream/simulated/create-simulated-upstream.ts';
import { traceCalls } from '../upstream/trace-calls.ts';

/** The share of first tries that may be repeated. */
const RETRY_SHARE = 0.2;
/**
 * How many retries may be saved up. If one of several upstreams restarts, all requests that wait
 * there for a first event fail at once, and this many of them can be retried. 100 first tries save
 * up this many retries. If all upstreams are out, a worker adds at most this many retries beyond
 * its share.
 */
const RETRY_BURST_MAX = 20;
const WAITERS_PER_MODEL_MAX = 200;
/** Eight of the largest answers; beyond that, one of each account, up to twice as much in all. */
const ANSWER_MEMORY = { waitBytes: 256 * 1024 * 1024, heldBytesMax: 512 * 1024 * 1024 };

export interface Upstreams {
  /** Takes the routes of these models for all further requests, and for those that wait. */
  changeRoutes(models: readonly ModelConfig[]): void;
  /** All upstreams as one: requests are routed, balanced and retried. */
  readonly infer: Infer;
  /** The formats in which these upstreams read requests. */
  readonly formats: ReadonlySet<FormatName>;
  readReports(): readonly UpstreamReport[];
  /**
   * Takes the names of all upstreams that do not answer the primary. All others answer or are not
   * probed.
   */
  setDown(names: ReadonlySet<string>): void;
}

interface UpstreamsOptions {
  readonly config: Config;
  /** The models with their routes. */
  readonly models: readonly ModelConfig[];
  /** From 1. */
  readonly slot: number;
  /** Distinguishes processes in the ids of simulated answers. */
  readonly instance: string;
  readonly clock: Clock;
  /** Called once for each request, when it is over. */
  readonly onTries: (tries: readonly Try[]) => void;
}

/** The upstreams of one worker. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { config, slot, clock } = options;
  const random = Math.random;
  const upstreams = config.upstreams.map((upstream) => ({
    ...upstream,
    concurrencyMax: shareConcurrency(upstream.concurrencyMax, slot, config.workers),
  }));
  const router = createRouter({
    routes: routesOf(options.models),
    upstreams,
    clock,
    random,
  });
  const tryCounts = createTryCounts();
  const memory = createAnswerMemory(ANSWER_MEMORY);
  const room = createWaitingRoom({ router, waitersPerModelMax: WAITERS_PER_MODEL_MAX });
  const infer = inferWithRetries({
    room,
    upstreams: new Map(
      upstreams.map((upstream) => [
        upstream.name,
        traceCalls(upstream.name, createUpstream(upstream, options, memory)),
      ]),
    ),
    withoutPdfs: (format, model) => findWithoutPdfs(config.upstreams, format, model),
    withoutStops: new Set(
      upstreams.filter(({ kind }) => kind === 'responses').map(({ name }) => name),
    ),
    thinkingFor: (model) => findThinking(config.upstreams, model),
    budget: createRetryBudget({ share: RETRY_SHARE, burstMax: RETRY_BURST_MAX }),
    onTries(tries, call) {
      tryCounts.note(tries);
      options.onTries(tries);
      call.noteTries(tries);
    },
    random,
  });
  return {
    infer,
    changeRoutes(models) {
      router.changeRoutes(routesOf(models));
      room.serve();
    },
    formats: new Set(upstreams.flatMap(({ kind }) => (kind === 'simulated' ? [] : [kind]))),
    readReports: () =>
      router.readStates().map((state) => ({ ...state, tries: tryCounts.read(state.name) })),
    setDown(names) {
      router.setDown(names);
      room.serve();
    },
  };
}

function routesOf(models: readonly ModelConfig[]): RoutesByModel {
  return new Map(models.map(({ id, routes }) => [id, routes]));
}

/**
 * Upstreams that must get no PDF for a model from a client of this format. A native upstream judges
 * the PDFs of native clients itself.
 */
function findWithoutPdfs(
  upstreams: readonly UpstreamConfig[],
  format: FormatName,
  model: string,
): ReadonlySet<string> {
  const without = upstreams.filter(({ kind, accepts }) => {
    if (kind === 'simulated' || (kind === 'native' && format === 'native')) return false;
    return findForModel(accepts, model)?.includes('pdf') !== true;
  });
  return new Set(without.map(({ name }) => name));
}

function findThinking(upstreams: readonly UpstreamConfig[], model: string): ThinkingUpstreams {
  const thinking = new Map<string, 'signed' | 'encrypted'>();
  for (const { name, kind, accepts } of upstreams) {
    if (kind === 'native') thinking.set(name, 'signed');
    const isCarried = findForModel(accepts, model)?.includes('encrypted_reasoning') === true;
    if (kind === 'responses' && isCarried) {
      thinking.set(name, 'encrypted');
    }
  }
  return thinking;
}

function createUpstream(
  upstream: UpstreamConfig,
  { config, instance, clock }: UpstreamsOptions,
  memory: AnswerMemory,
): Infer {
  const { kind, url, simulated } = upstream;
  if (kind === 'simulated' || url === undefined) {
    if (simulated === undefined) throw new Error(`${upstream.name} has neither url nor simulation`);
    const countTokens: Parameters<typeof createSimulatedUpstream>[0]['countTokens'] = (request) =>
      estimateTokens(request, config.estimate.bytesPerToken).likely;
    return createSimulatedUpstream({ ...simulated, instance, clock, countTokens });
  }
  const tls = readUpstreamTls(upstream);
  return createHttpUpstream({ ...upstream, kind, url, tls, clock, memory });
}
