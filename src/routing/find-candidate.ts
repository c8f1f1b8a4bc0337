import { type Candidate, chooseCandidate } from './choose-candidate.ts';

/** The candidates of one model by priority, the best first. */
export type RouteGroups = readonly (readonly Candidate[])[];

/**
 * A first try may be a probe, since it has other tries left. A retry goes where calls are known to
 * succeed, and so does every try while a probe has no answer: that upstream may hang.
 */
export function findCandidate(
  groups: RouteGroups,
  exclude: ReadonlySet<string>,
  random: () => number,
): Candidate | undefined {
  if (exclude.size > 0) {
    const proven =
      findReady(groups, exclude, isProvenAndServing) ?? findReady(groups, exclude, isProven);
    if (proven !== undefined) return chooseCandidate(proven, random);
  }
  const ready =
    findReady(groups, exclude, isUnprobedAndServing) ??
    findReady(groups, exclude, isProven) ??
    findReady(groups, exclude, isServing) ??
    findReady(groups, exclude, isAny);
  if (ready === undefined) return undefined;
  return ready.find(isUnproven) ?? chooseCandidate(ready, random);
}

/** Whether the upstream may be called, if it has a free place. */
export function canEnter({ shared, pause }: Candidate): boolean {
  return !shared.isDown && shared.health.canEnter() && pause.leftMs() === 0;
}

function isProven({ shared }: Candidate): boolean {
  return shared.health.state() === 'closed';
}

function isUnproven(candidate: Candidate): boolean {
  return !isProven(candidate);
}

/** A body may have caused the denial, so a model is never without upstreams because of it. */
function isServing({ doubt }: Candidate): boolean {
  return doubt.isOver();
}

function isProvenAndServing(candidate: Candidate): boolean {
  return isProven(candidate) && isServing(candidate);
}

function isUnprobedAndServing(candidate: Candidate): boolean {
  return !candidate.shared.health.isProbed() && isServing(candidate);
}

function isAny(): boolean {
  return true;
}

function findReady(
  groups: RouteGroups,
  exclude: ReadonlySet<string>,
  accepts: (candidate: Candidate) => boolean,
): readonly [Candidate, ...Candidate[]] | undefined {
  for (const group of groups) {
    let ready: [Candidate, ...Candidate[]] | undefined;
    for (const candidate of group) {
      if (exclude.has(candidate.shared.name) || !isReady(candidate) || !accepts(candidate))
        continue;
      if (ready === undefined) ready = [candidate];
      else ready.push(candidate);
    }
    if (ready !== undefined) return ready;
  }
  return undefined;
}

function isReady(candidate: Candidate): boolean {
  const { inFlight, concurrencyMax } = candidate.shared;
  return inFlight < concurrencyMax && canEnter(candidate);
}
