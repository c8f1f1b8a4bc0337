import { z } from 'zod';
import { dayOfMs, nameDay } from '../engine/days.ts';
import type { ArchiveStore } from './archive-store.ts';

const amount = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt);
const count = z.int().nonnegative();
const entryPlace = z.object({ ms: count, bucket: count, seq: count }).nullable();

/** Amounts are micro-credits; strings, since sums may exceed the exact numbers of JSON. */
const sums = {
  rows: count,
  held: amount,
  charged: amount,
  short: amount,
  first: entryPlace,
  last: entryPlace,
};

const manifestFile = z.object({
  version: z.literal(1),
  date: z.iso.date(),
  ...sums,
  bytes: count,
  columns: z.array(
    z.object({ name: z.string(), type: z.enum(['integer', 'text', 'boolean', 'bytes']) }),
  ),
  parts: z.array(
    z.object({
      name: z.string(),
      bytes: count,
      sha256: z.string().regex(/^[\da-f]{64}$/),
      ...sums,
    }),
  ),
  archived_at: z.iso.datetime(),
});

/** What the archive holds of a day. A day without a manifest is not archived. */
export type Manifest = z.output<typeof manifestFile>;

export type ManifestPart = Manifest['parts'][number];

const MANIFESTS = 'manifest/';

function manifestName(day: number): string {
  return `${MANIFESTS}${nameDay(day)}.json`;
}

/** The names of all files of a day begin with this. */
export function partsPrefix(day: number): string {
  return `entries/date=${nameDay(day)}/`;
}

function dayOfManifest(manifest: Manifest): number {
  return dayOfMs(Date.parse(manifest.date));
}

/** Undefined if the day is not archived. */
export async function readManifest(
  place: ArchiveStore,
  day: number,
): Promise<Manifest | undefined> {
  const name = manifestName(day);
  const text = await place.readText(name);
  return text === undefined ? undefined : parseManifest(`${place.title}: ${name}`, day, text);
}

/** All archived days, the oldest first. */
export async function listArchivedDays(place: ArchiveStore): Promise<number[]> {
  const names = await place.list(MANIFESTS);
  return names.flatMap((name) => {
    const [, date] = /^manifest\/(\d{4}-\d\d-\d\d)\.json$/.exec(name) ?? [];
    return date === undefined ? [] : [dayOfMs(Date.parse(date))];
  });
}

export async function writeManifest(place: ArchiveStore, manifest: Manifest): Promise<void> {
  await place.putText(manifestName(dayOfManifest(manifest)), `${encodeManifest(manifest, 2)}\n`);
}

export function encodeManifest(manifest: Manifest, indent?: number): string {
  const encode = (_name: string, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value;
  return JSON.stringify(manifest, encode, indent);
}

/** Whether this is the manifest that was encoded. */
export function isManifest(manifest: Manifest, encoded: string): boolean {
  const { data } = manifestFile.safeParse(JSON.parse(encoded));
  return data !== undefined && encodeManifest(data) === encodeManifest(manifest);
}

export async function removeManifest(place: ArchiveStore, day: number): Promise<void> {
  await place.remove(manifestName(day));
}

function parseManifest(title: string, day: number, text: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${title} is no JSON`);
  }
  const parsed = manifestFile.safeParse(json);
  if (!parsed.success) throw new Error(`${title} is no manifest: ${z.prettifyError(parsed.error)}`);
  if (parsed.data.date !== nameDay(day)) throw new Error(`${title} is of ${parsed.data.date}`);
  return parsed.data;
}
