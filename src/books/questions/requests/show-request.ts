import { showTime } from '../../../lib/time/show-time.ts';
import { creditsOf } from '../../../lib/units/micros.ts';
import type { FindName } from '../find-names.ts';
import type { RequestRow } from './scan-day.ts';

/** One row of the list of requests. Names are those of the admin API. */
export type ListedRequest = ReturnType<typeof showRequest>;

export function showRequest(row: RequestRow, nameOf: FindName) {
  const { account, key, model, upstream, kind, status, outcome, refusal, searches } = row;
  return {
    id: row.request,
    time: showTime(row.ms),
    ...{ account, account_name: nameOf(account) },
    ...{ key, key_name: nameOf(key) },
    ...{ model, upstream, kind, status, outcome, refusal },
    streamed: asBoolean(row.streamed),
    tokens: row.estimated === null ? null : showTokens(row),
    searches,
    estimated: asBoolean(row.estimated),
    held: creditsOf(row.held),
    charged: creditsOf(row.charged),
    short: creditsOf(row.short),
    cost: row.cost === null ? null : creditsOf(row.cost),
    started_at: row.started_ms === null ? null : showTime(row.started_ms),
    first_event_ms: row.first_ms,
    total_ms: row.total_ms,
  };
}

function showTokens(row: RequestRow) {
  const { input, cache_read, cache_write_5m, cache_write_1h, output, thinking } = row;
  return { input, cache_read, cache_write_5m, cache_write_1h, output, thinking };
}

function asBoolean(flag: 0 | 1 | null): boolean | null {
  return flag === null ? null : flag === 1;
}
