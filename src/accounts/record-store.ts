import { setTimeout as sleep } from 'node:timers/promises';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { DirectoryError } from './directory-error.ts';

/** The time from the first attempt until the caller learns that Redis is out. */
const BUDGET_MS = 2_000;
const RETRY_DELAY_MS = 50;
const RETRY_DELAY_MAX_MS = 400;
const READS_IN_FLIGHT_MAX = 32;

/** The fields of a record as Redis has them. */
export type Texts = Readonly<Record<string, string>>;

export interface RecordStore {
  /** Repeats the same call for a while if Redis is in trouble. The call must be safe to repeat. */
  ask<Reply>(call: () => Promise<Reply>): Promise<Reply>;
  /** The same for a call that changes nothing. */
  read<Reply>(call: () => Promise<Reply>): Promise<Reply>;
  /** Undefined if there is no such record. Absent fields are left out. */
  readRecord(record: string, fields: readonly string[]): Promise<Texts | undefined>;
  readSet(set: string): Promise<readonly string[]>;
  countSet(set: string): Promise<number>;
}

export function createRecordStore(connection: Pick<RedisConnection, 'send'>): RecordStore {
  const repeat = async <Reply>(call: () => Promise<Reply>, isChange: boolean): Promise<Reply> => {
    const deadlineMs = performance.now() + BUDGET_MS;
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (classifyRedisError(error) === 'fault') throw error;
        const delayMs = Math.min(RETRY_DELAY_MS * 2 ** attempt, RETRY_DELAY_MAX_MS);
        if (performance.now() + delayMs >= deadlineMs) throw refuseStoreOut(isChange, error);
        await sleep(delayMs);
      }
    }
  };

  const read: RecordStore['read'] = (call) => repeat(call, false);

  return {
    ask: (call) => repeat(call, true),
    read,
    async readRecord(record, fields) {
      const values = (await read(() => connection.send('hmget', [record, ...fields]))) as (
        | string
        | null
      )[];
      const texts: Record<string, string> = {};
      for (const [index, field] of fields.entries()) {
        const value = values[index];
        if (typeof value === 'string') texts[field] = value;
      }
      return Object.keys(texts).length === 0 ? undefined : texts;
    },
    readSet: async (set) => (await read(() => connection.send('smembers', [set]))) as string[],
    countSet: async (set) => Number(await read(() => connection.send('scard', [set]))),
  };
}

/** Reads the items a few at a time. The values are in the order of the items. */
export async function readEach<Item, Value>(
  items: readonly Item[],
  read: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let start = 0; start < items.length; start += READS_IN_FLIGHT_MAX) {
    const batch = items.slice(start, start + READS_IN_FLIGHT_MAX);
    values.push(...(await Promise.all(batch.map(read))));
  }
  return values;
}

function refuseStoreOut(isInDoubt: boolean, cause: unknown): DirectoryError {
  const doubt = isInDoubt ? ': whether a change took place is not known' : '';
  const message = `Redis does not answer at the moment${doubt}`;
  return new DirectoryError('store_unavailable', message, { isInDoubt, cause });
}
