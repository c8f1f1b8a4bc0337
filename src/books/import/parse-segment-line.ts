import { pack } from 'msgpackr';
import { z } from 'zod';
import { isStreamId, type StreamId } from '../stream/stream-id.ts';
import type { StreamFields } from '../writing/decode-entry.ts';

const micros = z.int();
const tokens = z.number().min(0);
const place = {
  bucket: z.int().min(0),
  id: z.string().refine(isStreamId),
};

const entrySchema = z.object({
  ...place,
  kind: z.string(),
  request: z.string(),
  account: z.string().min(1),
  /** Null on payments, as are model and month. */
  key: z.string().nullable(),
  model: z.string().nullable(),
  month: z.string().nullable(),
  held_micros: micros,
  charged_micros: micros,
  short_micros: micros,
  balance_micros: micros,
  usage: z
    .object({
      input: tokens,
      cache_read: tokens,
      cache_write_5m: tokens,
      cache_write_1h: tokens,
      output: tokens,
      thinking: tokens,
      /** Not in lines of versions that knew no searches. */
      searches: tokens.default(0),
      estimated: z.boolean(),
    })
    .nullable(),
  note: z.string().nullable(),
  /** Base64 of what was packed about the request. Null if that was no more than the usage. */
  details: z.base64().nullable().default(null),
});

/** An entry that could not be decoded; its fields are in base64. */
const damagedSchema = z.object({ ...place, damaged: z.array(z.base64()) });

type Entry = z.infer<typeof entrySchema>;

interface SegmentEntry {
  readonly bucket: number;
  readonly id: StreamId;
  readonly fields: StreamFields;
}

/** What every line starts with, so that readers of some buckets can pass over the others. */
const LINE_START = /^\{"bucket":(\d+),/;
const USAGE_VERSION_WITHOUT_DETAILS = 1;
const NO_BYTES = Buffer.alloc(0);

/** Undefined when the line is damaged at its very start. */
export function bucketOfLine(line: string): number | undefined {
  const match = LINE_START.exec(line);
  return match === null ? undefined : Number(match[1]);
}

/** Makes of a line the entry of the stream that it was. Throws when the line is damaged. */
export function parseSegmentLine(line: string): SegmentEntry {
  const parsed = JSON.parse(line) as object;
  if ('damaged' in parsed) {
    const { bucket, id, damaged } = damagedSchema.parse(parsed);
    return { bucket, id, fields: damaged.map((field) => Buffer.from(field, 'base64')) };
  }
  const entry = entrySchema.parse(parsed);
  const { bucket, id } = entry;
  const fields = [
    Buffer.from('entry'),
    Buffer.from(joinEntry(entry)),
    Buffer.from('usage'),
    packUsage(entry),
  ];
  return { bucket, id, fields };
}

/** Writes it as `quota/scripts/lua/money.lua` enters it. */
function joinEntry(entry: Entry): string {
  const { kind, account, key, month, model, request } = entry;
  const amounts = [
    ...[entry.held_micros, entry.charged_micros, entry.short_micros, entry.balance_micros],
  ];
  return [kind, account, key ?? '', month ?? '', model ?? '', ...amounts, request].join('|');
}

function packUsage({ note, details, usage }: Entry): Buffer {
  if (note !== null) return Buffer.from(note);
  if (details !== null) return Buffer.from(details, 'base64');
  if (usage === null) return NO_BYTES;
  return pack([
    USAGE_VERSION_WITHOUT_DETAILS,
    ...[usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h],
    ...[usage.output, usage.thinking, usage.estimated],
    ...(usage.searches === 0 ? [] : [undefined, usage.searches]),
  ]);
}
