import type { Config, KeepConfig } from '../../config/config.ts';
import type { AnswerKeeper, AnswerReservation } from '../../gateway/answer-keeper.ts';
import type { RecallGuard } from '../../guards/recall-guard.ts';
import { BUCKETS } from '../../keys/bucket-tags.ts';
import type { KeyCheck } from '../../keys/key-check.ts';
import { createFairShare } from '../../lib/collections/fair-share.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { watchKeptAnswers } from '../../metrics/observe-kept-answers.ts';
import type { ProcessMetrics } from '../../metrics/process-metrics.ts';
import type { ApiKey } from '../../protocol/admission.ts';
import { retryAfterHeaders } from '../../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../../protocol/refusals.ts';
import type { ItemReferences, ResponseItem } from '../../protocol/responses/references.ts';
import type { AskStore } from '../../quota/ask-store.ts';
import { refuseAdmission } from '../../quota/refuse-admission.ts';
import { find } from '../../quota/scripts/kept/find.ts';
import { forget } from '../../quota/scripts/kept/forget.ts';
import { type AnswerTexts, keep } from '../../quota/scripts/kept/keep.ts';
import { type RecalledStep, type RecallQuestion, recall } from '../../quota/scripts/kept/recall.ts';
import { type Breaker, callThrough } from '../../redis/breaker.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { MemoryWatch } from '../../redis/watch-memory.ts';

/** Different answers that one request may refer to by their items. */
const ANSWERS_MAX = 1_000;
/** Room for the input of requests that run. An answer that gives way is not kept. */
const HELD_BYTES_MAX = 64 * 1024 ** 2;
/** Limits and credits need the rest of the memory of Redis. */
const MEMORY_SHARE_MAX = 0.8;

interface KeeperOptions {
  readonly config: Config;
  readonly terms: KeepConfig;
  readonly connection: RedisConnection;
  readonly memory: Pick<MemoryWatch, 'filledShare'>;
  readonly askStore: AskStore;
  readonly breakerOf: (bucket: number) => Breaker;
  readonly keyCheck: KeyCheck;
  readonly recalls: RecallGuard;
  /** Returns the account of a good key, and guards what costs nothing. */
  readonly admitFree: (key: ApiKey) => Promise<{ readonly accountId: string }>;
  readonly metrics: ProcessMetrics;
  readonly clock: Clock;
}

/** What the accounts of a fleet keep in Redis. */
export function createAnswerKeeper(options: KeeperOptions): AnswerKeeper {
  const { config, connection, askStore, recalls, admitFree } = options;
  const ask = createAsk(options);

  return {
    async recall(key, references, ownBytes) {
      const { steps, outputs } = await ask(key, questionOf(references));
      const found = outputs.flatMap(parseItems);
      const items = new Map(found.map((item) => [String(item['id']), item]));
      const said = steps?.toReversed().flatMap(({ input, output }) => [input, output]) ?? [];
      const addedChars = countChars(said) + countItems(references.itemIds, items);
      if (ownBytes + addedChars > config.limits.bodyBytesMax) throw refuseLong(config);
      return { items, history: steps && said.flatMap(parseItems) };
    },
    noteAdmitted: (key) => recalls.noteAdmitted(key.digest),
    reserve: createReserve(options),
    async find(key, responseId) {
      const { accountId } = await admitFree(key);
      const { bucket } = key;
      const found = await askStore(bucket, () =>
        find(connection, { bucket, accountId }, responseId),
      );
      if (found === undefined) return undefined;
      const response = { ...parse(found.response), output: parseItems(found.output) };
      return { readInput: () => parseItems(found.input), response };
    },
    async forget(key, responseId) {
      const { accountId } = await admitFree(key);
      const { bucket } = key;
      return askStore(bucket, () => forget(connection, { bucket, accountId }, responseId));
    },
  };
}

/** Asks for a key, which has to be good. */
function createAsk({ connection, askStore, keyCheck, recalls }: KeeperOptions) {
  return async (key: ApiKey, question: RecallQuestion) => {
    const waitMs = await recalls.take(key.digest);
    if (waitMs > 0) throw refuseRecall(waitMs);
    const reply = await askStore(key.bucket, () => recall(connection, key, question));
    keyCheck.noteReply(key, { kind: reply.kind });
    if (reply.kind === 'known') return reply;
    throw refuseAdmission({ kind: reply.kind }, { maskedKey: key.masked, model: '' });
  };
}

function createReserve(options: KeeperOptions): AnswerKeeper['reserve'] {
  const { terms, connection, memory, breakerOf, metrics, clock } = options;
  const bounds = { ...terms, bucketBytesMax: Math.floor(terms.totalBytesMax / BUCKETS) };
  const observe = watchKeptAnswers(metrics, terms.ttlMs, () => clock.nowMs());
  const inputs = createFairShare(HELD_BYTES_MAX);

  return (key, asked, ownBytes): AnswerReservation => {
    let input = encodeInput(asked, ownBytes, terms.answerBytesMax);
    let gaveWay = false;
    const holder = {
      giveWay() {
        inputs.remove(holder, key.accountId);
        input = '';
        gaveWay = true;
      },
    };
    if (inputs.makeRoom(holder, key.accountId, input.length))
      inputs.add(holder, key.accountId, input.length);
    else holder.giveWay();
    return {
      async keep(answer) {
        if (gaveWay) return observe('full');
        const { id, previousId = '', output } = answer;
        const response = input === '' ? '' : answer.response;
        const texts: AnswerTexts = { id, previousId, output, input, response };
        if (texts.output.length > bounds.answerBytesMax) return observe('too_large');
        if ((memory.filledShare() ?? 0) > MEMORY_SHARE_MAX) return observe('full');
        try {
          const breaker = breakerOf(key.bucket);
          const reply = await callThrough(breaker, () => keep(connection, key, texts, bounds));
          return observe(reply.outcome, key.bucket, reply.bucketBytes);
        } catch {
          return observe('unavailable');
        }
      },
      release() {
        inputs.remove(holder, key.accountId);
        input = '';
      },
    };
  };
}

/** Empty if it is too large to be kept. A small body may refer to large items. */
function encodeInput(
  asked: readonly ResponseItem[],
  ownBytes: number,
  bytesMax: number,
): Buffer | '' {
  if (ownBytes > bytesMax) return '';
  const text = Buffer.from(JSON.stringify(asked));
  return text.length > bytesMax ? '' : text;
}

/** The id of an item leads to that of its response. */
function questionOf({ itemIds, previousResponseId = '' }: ItemReferences): RecallQuestion {
  const ids = itemIds.flatMap((id) => /^(?:msg|fc|ctc|rs)_(\w+)_\d+$/.exec(id)?.[1] ?? []);
  const responseIds = [...new Set(ids)].map((id) => `resp_${id}`);
  if (responseIds.length <= ANSWERS_MAX) return { previousId: previousResponseId, responseIds };
  const message = `Invalid value for 'input': it refers to more than ${ANSWERS_MAX} responses.`;
  throw new Refusal('invalid_request', message, { param: 'input' });
}

function countChars(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** A few references to a large item can make a body of any size, so they are counted first. */
function countItems(itemIds: readonly string[], items: ReadonlyMap<string, ResponseItem>): number {
  const known = new Map([...items].map(([id, item]) => [id, JSON.stringify(item).length]));
  return itemIds.reduce((sum, id) => sum + (known.get(id) ?? 0), 0);
}

function refuseLong({ limits }: Config): Refusal {
  const message = `The request is too large with all that it refers to: at most ${limits.bodyBytesMax} bytes are accepted.`;
  return new Refusal('body_too_large', message);
}

function refuseRecall(waitMs: number): Refusal {
  return new Refusal(
    'rate_limited',
    'Too many requests that refer to earlier answers and were not admitted.',
    { headers: retryAfterHeaders(waitMs) },
  );
}

function parse(text: string): ResponseItem {
  return JSON.parse(text) as ResponseItem;
}

function parseItems(text: RecalledStep['output']): readonly ResponseItem[] {
  return text === '' ? [] : (JSON.parse(text) as readonly ResponseItem[]);
}
