import { formatCredits } from '../lib/units/micros.ts';
import type { CreditReply } from '../quota/scripts/credit.ts';
import { DirectoryError, refuseMissingAccount } from './directory-error.ts';
import type { WriteResult } from './writer.ts';

export interface PaymentResult {
  readonly balanceMicros: number;
  /**
   * Whether another call had entered the payment already, so that it was not entered again. False
   * means that this call entered it, unless a reply of Redis was lost: then nobody knows which
   * call did.
   */
  readonly isRepeated: boolean;
  /** How many replicas have the payment; 0 also if there are no replicas. */
  readonly replicated: number;
}

/** Translates the store's reply to a payment. Throws if the payment has not been entered. */
export function explainCredit(
  reply: WriteResult<CreditReply>,
  payment: { readonly accountId: string; readonly id: string; readonly micros: number },
): PaymentResult {
  switch (reply.kind) {
    case 'credited':
    case 'repeated':
      return {
        balanceMicros: reply.balanceMicros,
        isRepeated: reply.kind === 'repeated',
        replicated: reply.replicated,
      };
    case 'missing':
      throw refuseMissingAccount(payment.accountId);
    case 'conflict':
      throw new DirectoryError(
        'payment_conflict',
        `the payment ${payment.id} has been entered before, with ${formatCredits(reply.micros)} credits`,
      );
    case 'reserved':
      throw new DirectoryError('credit_reserved', explainReserve(reply, -payment.micros));
    case 'too_much':
      throw new DirectoryError(
        'balance_too_large',
        `the balance of ${formatCredits(reply.balanceMicros)} credits would become too large`,
      );
  }
}

function explainReserve(
  { balanceMicros, heldMicros }: { readonly balanceMicros: number; readonly heldMicros: number },
  wantedMicros: number,
): string {
  const freeMicros = balanceMicros - heldMicros;
  const most = freeMicros > 0 ? `at most ${formatCredits(freeMicros)}` : 'none';
  return `${formatCredits(wantedMicros)} credits cannot be taken: the balance is ${formatCredits(balanceMicros)} and running requests hold ${formatCredits(heldMicros)} of it, so ${most} can be taken`;
}
