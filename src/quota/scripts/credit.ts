import { assert } from '../../lib/assert.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import type { Warnings } from './warnings.ts';

export interface Payment {
  readonly bucket: number;
  readonly accountId: string;
  /** The payer's own id of the payment. A payment with the same id is entered once. */
  readonly paymentId: string;
  /** Negative to take from the balance. */
  readonly micros: number;
  readonly kind: 'topup' | 'adjustment';
  /**
   * The payment was entered before, and a failover may have lost it: the balance may fall below
   * what is held, and below zero.
   */
  readonly isForced: boolean;
  /** For people to read; the ledger keeps it. */
  readonly note: string;
}

export type CreditReply =
  | { readonly kind: 'credited' | 'repeated' | 'too_much'; readonly balanceMicros: number }
  | { readonly kind: 'conflict'; readonly micros: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'reserved'; readonly balanceMicros: number; readonly heldMicros: number };

const script = loadLuaScript(
  new URL('./credit.lua', import.meta.url),
  ['account', 'payments', 'ledger', 'whole'],
  ['prefix', 'account_id', 'payment_id', 'micros', 'kind', 'is_forced', 'note', 'low_micros'],
);

/** Adds to the balance of an account or takes from it, once for each payment. */
export async function credit(
  connection: Pick<RedisConnection, 'send'>,
  payment: Payment,
  { lowBalanceMicros }: Pick<Warnings, 'lowBalanceMicros'>,
): Promise<CreditReply> {
  const redisKeys = keysOfBucket(payment.bucket);
  const reply = await script.call(
    connection,
    {
      account: redisKeys.account(payment.accountId),
      payments: redisKeys.payments,
      ledger: redisKeys.ledger,
      whole: redisKeys.whole,
    },
    {
      prefix: redisKeys.prefix,
      account_id: payment.accountId,
      payment_id: payment.paymentId,
      micros: payment.micros,
      kind: payment.kind,
      is_forced: payment.isForced ? '1' : '0',
      note: payment.note,
      low_micros: lowBalanceMicros,
    },
  );
  const [kind, first, second] = reply as [CreditReply['kind'] | 'invalid', number, number];
  if (kind === 'invalid') assert(false, 'credit.lua takes the amount that it is given');
  switch (kind) {
    case 'missing':
      return { kind };
    case 'conflict':
      return { kind, micros: first };
    case 'reserved':
      return { kind, balanceMicros: first, heldMicros: second };
    default:
      return { kind, balanceMicros: first };
  }
}
