import { refuseKind } from '../../fields/refuse-kind.ts';
import type { RequestOutline } from '../../inference.ts';

/** A model that does not stop where it should goes on to speak for others. Throws a `Refusal`. */
export function refuseStops({ stopSequences }: RequestOutline): void {
  if (stopSequences.length > 0) throw refuseKind('stop', 'stop sequences');
}
