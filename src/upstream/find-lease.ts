import type { FormatName } from '../protocol/format-names.ts';
import type { InferenceCall } from '../protocol/inference.ts';
import type { Try } from '../protocol/try.ts';
import type { Lease, NoRoute } from '../routing/router.ts';
import type { WaitingRoom } from '../routing/waiting-room.ts';
import { wait } from '../timers/wait.ts';
import {
  checkThoughts,
  findUnreaders,
  refuseBound,
  type ThinkingUpstreams,
} from './bind-thoughts.ts';
import { waitForLease } from './wait-for-lease.ts';

/** How long to wait for a single upstream that asks for a pause; longer waits are the client's. */
const RETRY_AFTER_WAIT_MAX_MS = 2_000;
/** Spreads requests that wait for the same moment. */
const RETRY_AFTER_JITTER_MS = 250;

export interface LeaseOptions {
  readonly room: WaitingRoom;
  /** By their names. */
  readonly upstreams: ReadonlyMap<string, unknown>;
  /** The upstreams that do not take PDFs for a model from clients of a format. */
  readonly withoutPdfs: (format: FormatName, model: string) => ReadonlySet<string>;
  /** Upstreams whose format has no stop sequences. */
  readonly withoutStops: ReadonlySet<string>;
  readonly thinkingFor: (model: string) => ThinkingUpstreams;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/** Results that another upstream may avoid, but not the same one. */
const FINAL_THERE: ReadonlySet<Try['result']> = new Set(['slow', 'denied']);

export function findLease(
  options: LeaseOptions,
  call: InferenceCall,
  tries: readonly Try[],
): ReturnType<typeof waitForLease> {
  if (tries.length > 0) return findAnotherLease(options, call, tries);
  checkThoughts(call);
  const origin = call.reasoning?.origin;
  if (origin !== undefined) {
    const lease = findLeaseAt(origin, options, call);
    if (lease !== undefined) return lease;
  }
  const exclude = unfitFor(call, options);
  if (exclude.size > 0) return findFitLease(options, call, exclude);
  const { model, signal } = call;
  return waitForLease(options.room, { model, exclude, signal });
}

/** At the upstream that knows the thoughts in the request: others might continue without them. */
function findLeaseAt(origin: string, options: LeaseOptions, call: InferenceCall) {
  if (unfitFor(call, options).has(origin)) return undefined;
  const others = new Set(options.upstreams.keys());
  if (!others.delete(origin)) return undefined;
  const found = options.room.choose(call.model, others);
  return found.kind === 'lease' ? found : undefined;
}

/**
 * If no route takes what is in the request, any upstream may get it: it explains that better. If
 * none knows the thoughts from which the model has to continue, the request is refused.
 */
async function findFitLease(
  options: LeaseOptions,
  call: InferenceCall,
  unfit: ReadonlySet<string>,
): Promise<Lease | NoRoute> {
  const { model, signal } = call;
  const { room, thinkingFor } = options;
  const fit = await waitForLease(room, { model, exclude: unfit, signal });
  if (fit.kind === 'lease' || fit.why !== 'excluded') return fit;
  const exclude = findUnreaders(call, thinkingFor);
  const found = await waitForLease(room, { model, exclude, signal });
  if (found.kind === 'none' && found.why === 'excluded' && exclude.size > 0) {
    throw refuseBound(call);
  }
  return found;
}

function unfitFor(call: InferenceCall, options: LeaseOptions): ReadonlySet<string> {
  const { hasPdfs, form, model, request } = call;
  const unreaders = findUnreaders(call, options.thinkingFor);
  const hasStops = request.stopSequences.length > 0;
  if ((!hasPdfs && !hasStops) || form.format === 'embeddings') return unreaders;
  return new Set([
    ...unreaders,
    ...(hasPdfs ? options.withoutPdfs(form.format, model) : []),
    ...(hasStops ? options.withoutStops : []),
  ]);
}

/** Another upstream if possible, else one after the pause that it asked for, if that can help. */
async function findAnotherLease(
  options: LeaseOptions,
  call: InferenceCall,
  tries: readonly Try[],
): Promise<Lease | NoRoute> {
  const { room, random } = options;
  const { model, signal } = call;
  const unfit = unfitFor(call, options);
  const exclude = new Set([...unfit, ...tries.map(({ upstream }) => upstream)]);
  const elsewhere = await waitForLease(room, { model, exclude, signal });
  if (elsewhere.kind === 'lease') return elsewhere;
  const final = new Set(unfit);
  for (const { upstream, result } of tries) if (FINAL_THERE.has(result)) final.add(upstream);
  const again = room.choose(model, final);
  if (again.kind === 'lease' || again.why !== 'resting') return again;
  if (again.retryAfterMs > RETRY_AFTER_WAIT_MAX_MS) return again;
  await wait(again.retryAfterMs + RETRY_AFTER_JITTER_MS * random(), signal);
  return room.choose(model, final);
}
