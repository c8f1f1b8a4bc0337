import { type Books, findBrokenBounds } from '../../../bench/soak/read-books.ts';
import type { Asked } from './ask.ts';
import type { InLedger, LedgerRead } from './read-ledger.ts';
import type { FaultNode } from './start-node.ts';

export interface MoneyFacts {
  /** Complete answers whose cost is not in the ledger, or not all of it. */
  readonly lost: number;
  /** Requests that the ledger charges more than once, or more than they cost. */
  readonly doubled: number;
  /**
   * Answers that were complete in the moment in which the processes that served them were killed.
   * Their holds ran out, and cost what was noted last.
   */
  readonly cutShort: number;
  /** Some of these, for whoever looks for the reason. */
  readonly wrongRequests: readonly string[];
  /** Everything that must not be, a sentence each. */
  readonly violations: readonly string[];
}

type Fate = 'right' | 'lost' | 'doubled' | 'cutShort';

/**
 * How a request ends: it has one entry of these kinds. Only `late` may follow, behind `expired`.
 */
const ENDS = ['charge', 'release', 'expired', 'orphan'];
/** More add nothing. */
const SHOWN_MAX = 5;
/** From the end of an answer to its charge, on a busy machine. */
const CHARGE_MAX_MS = 1_000;
/** An answer may still be on its way to its client. */
const READ_MAX_MS = 500;

/** Compares what clients saw with the ledger, and the ledger with the balances. */
export function checkMoney(
  asked: readonly Asked[],
  { requests, chargedOfAccount }: LedgerRead,
  { books, nodes }: { readonly books: Books; readonly nodes: readonly FaultNode[] },
): MoneyFacts {
  const wasCutShort = ({ url, endMs }: Asked, { kinds }: InLedger) =>
    kinds.join() === 'expired' &&
    nodes.some(
      (node) =>
        node.url === url &&
        node.killedMs.some((ms) => endMs > ms - CHARGE_MAX_MS && endMs < ms + READ_MAX_MS),
    );
  const fates = asked.map((each): Fate => {
    const known = requests.get(each.requestId ?? '');
    const fate = judge(each, known);
    const isCut = fate === 'lost' && known !== undefined && wasCutShort(each, known);
    return isCut ? 'cutShort' : fate;
  });
  const wrongOnes = asked.flatMap(({ requestId = '', toldMicros }, index) => {
    if (fates[index] === 'right' || fates[index] === 'cutShort') return [];
    const { chargedMicros = 0, kinds = [] } = requests.get(requestId) ?? {};
    return `${requestId} cost ${toldMicros}, and has ${kinds.join(', ')} of ${chargedMicros}`;
  });
  const count = (wanted: Fate) => fates.filter((fate) => fate === wanted).length;
  const wrong = books.accounts.flatMap(({ id, balance }) => {
    const expected = -(chargedOfAccount.get(id) ?? 0);
    return balance === expected ? [] : `${id} has ${balance}, by the ledger ${expected}`;
  });
  return {
    ...{ lost: count('lost'), doubled: count('doubled'), cutShort: count('cutShort') },
    violations: [...wrong, ...findBrokenBounds(books)],
    wrongRequests: wrongOnes.slice(0, SHOWN_MAX),
  };
}

/** What a client was not told the cost of may cost anything, but only once. */
function judge({ status, toldMicros, key, sentMs }: Asked, known: InLedger | undefined): Fate {
  const { chargedMicros = 0, shortMicros = 0, kinds = [] } = known ?? {};
  const cost = chargedMicros + shortMicros;
  if (kinds.filter((kind) => ENDS.includes(kind)).length > 1) return 'doubled';
  if (toldMicros !== undefined && cost < toldMicros) return 'lost';
  // Whose key is revoked meanwhile pays for what the upstream has done until then.
  const isCutOff = status === 401 && sentMs < (key.revokedMs ?? 0);
  const hasCost = status === 200 || isCutOff;
  const costMax = hasCost ? (toldMicros ?? Number.POSITIVE_INFINITY) : 0;
  return status !== undefined && cost > costMax ? 'doubled' : 'right';
}
