import type { Snapshot } from '../support/snapshot.ts';
import type { ProofAccount } from '../support/world.ts';
import type { Report } from './violations.ts';

/** I9: when all leases have ended, there are no holds anywhere. */
export function checkEnd(snapshot: Snapshot, world: readonly ProofAccount[], report: Report): void {
  const { holds, leases, renewals, accounts, keys } = snapshot;
  if (holds.size + leases.length + renewals.length > 0) {
    report(
      'I9',
      `${holds.size} holds and ${leases.length} leases and ${renewals.length} renewals do not end`,
    );
  }
  for (const { accountId, bucket, keys: own } of world) {
    if (bucket !== snapshot.bucket) continue;
    const held = Number(accounts.get(accountId)?.get('held') ?? 0);
    if (held !== 0) report('I9', `${accountId} still holds ${held}`);
    for (const { keyId } of own) {
      const fields = [...(keys.get(accountId)?.get(keyId) ?? [])];
      const left = fields.filter(
        ([name, value]) => /^(held:|in_flight$)/.test(name) && value !== '0',
      );
      if (left.length > 0) report('I9', `${keyId} still has ${JSON.stringify(left)}`);
    }
  }
}
