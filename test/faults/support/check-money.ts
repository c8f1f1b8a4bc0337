import { type Books, findBrokenBounds } from '../../../bench/soak/read-books.ts';
import type { Asked } from './ask.ts';
import type { InLedger, LedgerRead } from './read-ledger.ts';

export interface MoneyFacts {
  /** Complete answers whose cost is not in the ledger, or not all of it. */
  readonly lost: number;
  /** Requests that the ledger charges more than once, or more than they cost. */
  readonly doubled: number;
  /** Some of these, for whoever looks for the reason. */
  readonly wrongRequests: readonly string[];
  /** Everything that must not be, a sentence each. */
  readonly violations: readonly string[];
}

type Fate = 'right' | 'lost' | 'doubled';

/**
 * How a request ends: it has one entry of these kinds. Only `late` may follow, behind `expired`.
 */
const ENDS = ['charge', 'release', 'expired', 'orphan'];
/** More add nothing. */
const SHOWN_MAX = 5;

/** Compares what clients saw with the ledger, and the ledger with the balances. */
export function checkMoney(
  asked: readonly Asked[],
  { requests, chargedOfAccount }: LedgerRead,
  books: Books,
): MoneyFacts {
  const fates = asked.map((each) => judge(each, requests.get(each.requestId ?? '')));
  const wrongOnes = asked.flatMap(({ requestId = '', toldMicros }, index) => {
    if (fates[index] === 'right') return [];
    const { chargedMicros = 0, kinds = [] } = requests.get(requestId) ?? {};
    return `${requestId} cost ${toldMicros}, and has ${kinds.join(', ')} of ${chargedMicros}`;
  });
  const count = (wanted: Fate) => fates.filter((fate) => fate === wanted).length;
  const wrong = books.accounts.flatMap(({ id, balance }) => {
    const expected = -(chargedOfAccount.get(id) ?? 0);
    return balance === expected ? [] : `${id} has ${balance}, by the ledger ${expected}`;
  });
  return {
    ...{ lost: count('lost'), doubled: count('doubled') },
    violations: [...wrong, ...findBrokenBounds(books)],
    wrongRequests: wrongOnes.slice(0, SHOWN_MAX),
  };
}

/** What a client was not told the cost of may cost anything, but only once. */
function judge({ status, toldMicros }: Asked, known: InLedger | undefined): Fate {
  const { chargedMicros = 0, shortMicros = 0, kinds = [] } = known ?? {};
  const cost = chargedMicros + shortMicros;
  if (kinds.filter((kind) => ENDS.includes(kind)).length > 1) return 'doubled';
  if (toldMicros !== undefined && cost < toldMicros) return 'lost';
  const costMax = status === 200 ? (toldMicros ?? Number.POSITIVE_INFINITY) : 0;
  return status !== undefined && cost > costMax ? 'doubled' : 'right';
}
