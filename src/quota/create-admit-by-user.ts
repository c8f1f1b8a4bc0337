import { type AdmitArguments, type AdmitReply, UNTOLD_USER } from './scripts/admit.ts';

/** When this many keys are known, all are forgotten, and each asks twice again. */
const NAMED_KEYS_MAX = 10_000;

/** The replies that remain when the call has named the end user, or when there is none. */
export type NamedReply = Exclude<AdmitReply, { kind: 'name_user' }>;

interface AdmitByUserOptions {
  readonly admit: (order: AdmitArguments) => Promise<AdmitReply>;
  readonly digestEndUser: (name: string) => string;
}

/**
 * Admits requests that may name an end user. Few keys have limits for each end user, and requests
 * of a key can share a call only if they name the same end user. So calls leave the end user out
 * until the store has asked for it once.
 */
export function createAdmitByUser({ admit, digestEndUser }: AdmitByUserOptions) {
  const named = new Set<string>();

  // Only a call that leaves the end user out is asked for it.
  const admitKnown = (order: AdmitArguments) => admit(order) as Promise<NamedReply>;
  const admitNamed = (order: AdmitArguments, endUser: string) =>
    admitKnown({ ...order, user: digestEndUser(endUser) });

  return (order: AdmitArguments, endUser: string): Promise<NamedReply> => {
    if (endUser === '') return admitKnown(order);
    if (named.has(order.keyId)) return admitNamed(order, endUser);
    return admit({ ...order, user: UNTOLD_USER }).then((reply) => {
      if (reply.kind !== 'name_user') return reply;
      if (named.size >= NAMED_KEYS_MAX) named.clear();
      named.add(order.keyId);
      return admitNamed(order, endUser);
    });
  };
}
