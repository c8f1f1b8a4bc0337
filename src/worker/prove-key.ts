import type { KeyCheck } from '../keys/key-check.ts';
import type { ApiKey } from '../protocol/admission.ts';
import type { AskStore } from '../quota/ask-store.ts';
import { refuseAdmission } from '../quota/refuse-admission.ts';
import type { IdentifyReply } from '../quota/scripts/identify.ts';

interface ProveOptions {
  readonly askStore: AskStore;
  /** Makes one attempt. */
  readonly identify: (key: ApiKey) => Promise<IdentifyReply>;
  readonly keyCheck: KeyCheck;
}

export type ProveKey = (key: ApiKey) => Promise<Extract<IdentifyReply, { kind: 'known' }>>;

/** Asks the store whose key it is. A key that is not good is refused, and counts as a guess. */
export function createProveKey({ askStore, identify, keyCheck }: ProveOptions): ProveKey {
  return async (key) => {
    const reply = await askStore(key.bucket, () => identify(key));
    keyCheck.noteReply(key, reply);
    if (reply.kind !== 'known') {
      throw refuseAdmission({ kind: reply.kind }, { maskedKey: key.masked, model: '' });
    }
    return reply;
  };
}
