import type { Log } from '../../lib/log.ts';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import { classifyRedisError } from '../../redis/classify-redis-error.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { decodeEvent, type LimitEvent } from '../limit-event.ts';
import { type CollectedPlaces, createCollectedPlaces } from './collected-places.ts';
import { addEvents } from './event-list.ts';

/** In one reply. */
const PAGE_MAX = 100;
const FIRST_PLACE = '0-0';

const script = loadLuaScript(
  new URL('./remove-events.lua', import.meta.url),
  ['events', 'taken'],
  ['min_id', 'place'],
);

export interface EventCollector {
  /** Brings the events of a bucket into the list of all, soon. Several nodes may do it at once. */
  collect(bucket: number): void;
  /** After a failover the list may lack what it had. */
  noteMasterChange(): void;
  /**
   * The masters are the same as they were this many milliseconds ago. Events stay in their bucket
   * until a failover cannot take them out of the list any more, and this alone counts that time.
   */
  noteSame(elapsedMs: number): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

interface CollectorOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  /** Called once for each event that is new to the list. */
  readonly onEvent: (event: LimitEvent) => void;
  /** Called if a bucket had no room for events before they were collected; nobody has them. */
  readonly onLost: (count: number) => void;
  readonly log: Log;
}

export function createEventCollector(options: CollectorOptions): EventCollector {
  const { connection, onEvent, onLost, log } = options;
  let placesNow = createCollectedPlaces();

  const collectPage = async (bucket: number, places: CollectedPlaces): Promise<boolean> => {
    const after = places.get(bucket) ?? FIRST_PLACE;
    const args = [keysOfBucket(bucket).events, `(${after}`, '+', 'COUNT', String(PAGE_MAX)];
    const entries = (await connection.send('xrange', args)) as [string, string[]][];
    const events = entries.flatMap(([, fields]) => {
      const text = String(fields[1]);
      const event = decodeEvent(text);
      if (event === undefined) log.warn({ bucket }, 'an event of another version is left out');
      return event === undefined ? [] : [{ text, event }];
    });
    for (const { event } of await addEvents(connection, events)) onEvent(event);
    const last = entries.at(-1);
    if (last !== undefined) places.set(bucket, String(last[0]));
    return entries.length === PAGE_MAX;
  };

  const collectAll = async (bucket: number): Promise<void> => {
    // If the masters change meanwhile, these places say nothing about what the new ones have.
    const places = placesNow;
    let isMore = true;
    while (isMore) isMore = await collectPage(bucket, places);
    if (places !== placesNow) return;
    const min_id = findNext(places.getKept(bucket) ?? FIRST_PLACE);
    const place = places.get(bucket) ?? FIRST_PLACE;
    const { events, eventsTaken: taken } = keysOfBucket(bucket);
    const reply = await script.call(connection, { events, taken }, { min_id, place });
    const [isEmpty, lost] = reply as [number, number];
    if (isEmpty === 1) places.forget(bucket);
    if (lost > 0) {
      log.error({ bucket, lost }, 'events of limits were lost: a bucket had no room for more');
      onLost(lost);
    }
  };

  const waiting = new Set<number>();
  let running: Promise<void> | undefined;
  const run = async () => {
    for (const bucket of waiting) {
      waiting.delete(bucket);
      await collectAll(bucket).catch((error: unknown) => {
        // The next sweep of the bucket asks for it again.
        if (classifyRedisError(error) !== 'fault') return;
        log.error({ bucket, err: error }, 'events stay in their bucket');
      });
    }
    running = undefined;
  };

  return {
    collect(bucket) {
      waiting.add(bucket);
      running ??= run();
    },
    noteMasterChange() {
      placesNow = createCollectedPlaces();
    },
    noteSame: (elapsedMs) => placesNow.noteSame(elapsedMs),
    async stop() {
      waiting.clear();
      await running;
    },
  };
}

function findNext(place: string): string {
  const [ms, number] = place.split('-');
  return `${ms}-${Number(number) + 1}`;
}
