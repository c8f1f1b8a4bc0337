import { refuseThought } from '../protocol/fields/refuse-thought.ts';
import type { InferenceCall } from '../protocol/inference.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { OpenedThought } from '../protocol/sealed-reasoning.ts';

/**
 * The upstreams that get thoughts back, by name: signed ones of the native format, or encrypted
 * ones of the responses format. All others get the request without thoughts, whichever upstream
 * these came from.
 */
export type ThinkingUpstreams = ReadonlyMap<string, 'signed' | 'encrypted'>;

const NONE: ReadonlySet<string> = new Set();

/** Refuses a request whose model would have to continue from an untrusted thought. */
export function checkThoughts({ reasoning, source }: InferenceCall): void {
  const unreadable = reasoning?.bound.find(({ opened }) => opened === undefined);
  if (unreadable === undefined) return;
  const why = 'it was changed, or belongs to another account or deployment';
  throw refuseThought(source?.value, unreadable.sealed, why);
}

/** The upstreams that think, but cannot read a thought from which the model must continue. */
export function findUnreaders(
  { reasoning, model }: InferenceCall,
  thinkingFor: (model: string) => ThinkingUpstreams,
): ReadonlySet<string> {
  const bound = reasoning?.bound ?? [];
  if (bound.length === 0) return NONE;
  const upstreams = thinkingFor(model);
  const unreaders = [...upstreams.keys()].filter((name) =>
    bound.some(({ opened }) => opened !== undefined && !canRead(name, opened, upstreams)),
  );
  return new Set(unreaders);
}

/** Several native upstreams can be the same vendor. */
function canRead(name: string, thought: OpenedThought, upstreams: ThinkingUpstreams): boolean {
  if (name === thought.upstream) return true;
  return upstreams.get(name) === 'signed' && thought.reasoning.type !== 'reasoning';
}

/** For a request whose upstream is gone, or cannot read what another one has signed. */
export function refuseBound({ reasoning, source, model }: InferenceCall): Refusal {
  const thought = reasoning?.bound.at(-1);
  const why = `the upstream that has thought it is not asked for ${model}, and no other knows it`;
  return refuseThought(source?.value, thought?.sealed ?? '', why);
}
