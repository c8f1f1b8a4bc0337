import type { AdmittedRequest } from '../settlement/settlement.ts';

/** As it stands in a hold and in the ledger, see `lua/holds.lua`. */
export function encodePayer({ accountId, keyId, month, model }: AdmittedRequest): string {
  return `${accountId}|${keyId}|${month}|${model}`;
}
