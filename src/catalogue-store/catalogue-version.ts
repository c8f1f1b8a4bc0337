import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Operator } from '../accounts/audit/audit-entry.ts';

const DIGEST_CHARS = 16;

export const VERSION_KINDS = ['seed', 'apply', 'rollback'] as const;

/** How a version came to be. */
const origin = z.object({
  kind: z.enum(VERSION_KINDS),
  /** Null for the first version, which the settings made. */
  who: z.custom<Operator>((value) => typeof value === 'object').nullable(),
  /** The version whose document a rollback took. */
  rolled_back_to: z.int().nullable(),
});

export type VersionOrigin = z.infer<typeof origin>;

const versionNote = z.object({
  version: z.int().min(1),
  /** The time from which it holds, by the clock of Redis. */
  fromMs: z.number(),
  appliedMs: z.number(),
  origin,
});

/** One version of the catalogue as Redis has it. Its document may be from a later program. */
export const storedVersion = versionNote.extend({ document: z.string() });

export type VersionNote = Readonly<z.infer<typeof versionNote>>;
export type StoredVersion = Readonly<z.infer<typeof storedVersion>>;

/** Equal digests mean that two documents are the same text. */
export function digestDocument(document: string): string {
  return createHash('sha256').update(document).digest('hex').slice(0, DIGEST_CHARS);
}

export function encodeOrigin(from: VersionOrigin): string {
  return JSON.stringify(from);
}

/** Undefined if a later program wrote it in another form. */
export function decodeNote(version: number, text: string): VersionNote | undefined {
  const [, fromMs = '', appliedMs = '', json = ''] =
    /^(\d{1,15})\|(\d{1,15})\|[^|]*\|(.*)$/s.exec(text) ?? [];
  try {
    const times = { fromMs: Number(fromMs), appliedMs: Number(appliedMs) };
    return { version, ...times, origin: origin.parse(JSON.parse(json)) };
  } catch {
    return undefined;
  }
}
