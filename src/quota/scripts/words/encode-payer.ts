import type { AdmittedRequest } from '../../settlement/settlement.ts';

/** The payer as a hold and the ledger have it, see `lua/holds.lua`. */
export function encodePayer({ accountId, keyId, month, model }: AdmittedRequest): string {
  return `${accountId}|${keyId}|${month}|${model}`;
}
