import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import type { RecordWrite } from '../quota/scripts/write-record.ts';
import { DirectoryError } from './directory-error.ts';
import type { Texts } from './record-store.ts';
import type { Writer } from './writer.ts';

export const WRITE_ID_CHARS = 16;
const ATTEMPTS_MAX = 5;

export interface RecordChange<Subject> {
  readonly before: Subject;
  readonly after: Subject;
  /** How many replicas have the change; 0 also if there are no replicas. */
  readonly replicated: number;
}

interface ChangeRecordOptions<Subject> extends Pick<RecordWrite, 'subject' | 'id' | 'record'> {
  readonly read: () => Promise<Texts>;
  readonly decode: (texts: Texts) => Subject;
  /** The Redis key of the set that lists all records of its kind. */
  readonly indexOf: (before: Subject) => string;
  /** Returns what to write, given the present record. Throws if that record may not be changed. */
  readonly prepare: (before: Subject) => Pick<RecordWrite, 'fields' | 'overlapMs'>;
  /** The version that the caller knows. If the record has another one, nothing changes. */
  readonly baseVersion?: number | undefined;
  readonly writer: Writer;
  readonly randomBytes: RandomBytes;
}

/**
 * Reads a record and writes a change to it. Tries again if somebody else has changed the record in
 * the meantime, unless the caller knows which version it changes.
 */
export async function changeRecord<Subject>(
  options: ChangeRecordOptions<Subject>,
): Promise<RecordChange<Subject>> {
  const { read, decode, indexOf, prepare, writer, randomBytes, subject, id, record } = options;
  const { baseVersion } = options;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const texts = await read();
    if (baseVersion !== undefined) refuseOtherVersion(id, texts, baseVersion);
    const before = decode(texts);
    const what = prepare(before);
    const reply = await writer.writeRecord({
      ...what,
      ...{ subject, id, record, index: indexOf(before) },
      writeId: randomBase62(WRITE_ID_CHARS, randomBytes),
      expected: texts['version'] ?? '',
    });
    if (reply.kind === 'written') {
      const after = decode({ ...texts, ...what.fields, version: String(reply.version) });
      return { before, after, replicated: reply.replicated };
    }
  }
  throw new DirectoryError('changed_meanwhile', `${id} is being changed by somebody else`);
}

function refuseOtherVersion(id: string, texts: Texts, baseVersion: number): void {
  if (Number(texts['version'] ?? 0) === baseVersion) return;
  throw new DirectoryError(
    'changed_meanwhile',
    `${id} was changed meanwhile: look at it again, and change its version ${texts['version']}`,
  );
}
