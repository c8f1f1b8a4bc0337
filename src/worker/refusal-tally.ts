import type { RequestRecord } from '../gateway/request-record.ts';
import type { RefusalBatch, RefusalSeries, RefusedRequest } from '../lib/refusal-batch.ts';
import type { Clock } from '../lib/time/clock.ts';
import { MINUTE_MS } from '../lib/units/time-units.ts';
import type { RefusalName } from '../protocol/refusals.ts';

/** Series with a key in one batch. Further refusals are counted without their keys. */
const SERIES_MAX = 10_000;
/** Requests in one batch. There is a batch a second. */
const SAMPLES_MAX = 20;
/** Requests without a key, which anyone can send, must not take the places of the others. */
const SAMPLES_WITHOUT_KEY_MAX = 5;
/** The store gives these refusals only if it knows the key. */
const KEY_PROVING: ReadonlySet<RefusalName> = new Set([
  'balance_too_low',
  'cap_reached',
  'budget_reached',
  'limit_reached',
  'too_large_for_limit',
  'end_user_missing',
  'too_many_end_users',
  'model_not_allowed',
  'account_suspended',
  'rate_limited',
  'too_many_at_once',
]);

export interface RefusalTally {
  /** Takes the record of a request that was refused without an admission. */
  note(record: RequestRecord): void;
  /** Returns what was noted and starts again. Undefined if nothing was noted. */
  take(): RefusalBatch | undefined;
}

export function createRefusalTally(clock: Clock): RefusalTally {
  let counts = new Map<
    string,
    { -readonly [Field in keyof RefusalSeries]: RefusalSeries[Field] }
  >();
  let samples: RefusedRequest[] = [];
  let samplesWithoutKey = 0;

  const count = (minute: number, keyId: string, model: string, refusal: RefusalName) => {
    const series = `${minute} ${keyId} ${model} ${refusal}`;
    const known = counts.get(series);
    if (known !== undefined) known.count += 1;
    else if (keyId !== '' && counts.size >= SERIES_MAX) count(minute, '', model, refusal);
    else counts.set(series, { minute, keyId, model, refusal, count: 1 });
  };
  const hasPlace = (keyId: string) => {
    if (samples.length >= SAMPLES_MAX) return false;
    if (keyId !== '') return true;
    samplesWithoutKey += 1;
    return samplesWithoutKey <= SAMPLES_WITHOUT_KEY_MAX;
  };

  return {
    note(record) {
      const { requestId, model = '', refusal, status = 0, route: format, isStream } = record;
      // A client that left before it was refused is not sent anything.
      if (refusal === undefined) return;
      const refusedMs = clock.nowMs();
      const keyId = readKeyId(record);
      count(Math.floor(refusedMs / MINUTE_MS), keyId, model, refusal);
      if (!hasPlace(keyId)) return;
      const durationMs = Math.round(record.endMs - record.startedMs);
      const sample = { requestId, refusedMs, keyId, model, status, refusal, format, isStream };
      samples.push({ ...sample, durationMs });
    },
    take() {
      if (counts.size === 0) return undefined;
      const batch = { counts: [...counts.values()], samples };
      counts = new Map();
      samples = [];
      samplesWithoutKey = 0;
      return batch;
    },
  };
}

/** Empty unless it is certain that the key exists. */
function readKeyId({ keyId = '', isKeyProven, refusal }: RequestRecord): string {
  return isKeyProven || (refusal !== undefined && KEY_PROVING.has(refusal)) ? keyId : '';
}

/**
 * Returns a function that sends the next batch. At most one batch is under way: while it is,
 * refusals wait for the next one. Only the last call sends without waiting.
 */
export function createRefusalSender(
  tally: Pick<RefusalTally, 'take'>,
  send: (batch: RefusalBatch, onSent: () => void) => void,
): (isLast: boolean) => void {
  let isSending = false;
  return (isLast) => {
    if (isSending && !isLast) return;
    const batch = tally.take();
    if (batch === undefined) return;
    isSending = true;
    send(batch, () => {
      isSending = false;
    });
  };
}
