import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { CATALOGUE_KEYS } from '../redis/redis-keys.ts';
import {
  decodeNote,
  digestDocument,
  encodeOrigin,
  type StoredVersion,
  type VersionNote,
  type VersionOrigin,
} from './catalogue-version.ts';

/** How many versions are kept: the last ones. */
const VERSIONS_MAX = 50;
/** How many versions may wait for their time. It is less than `VERSIONS_MAX`. */
export const PENDING_MAX = 10;
/** The longest document, as JSON in UTF-8. All versions together take 25 MB at most. */
export const DOCUMENT_BYTES_MAX = 512 * 1024;

export interface ApplyOrder {
  /** Names the catalogue if this is its first version. */
  readonly catalogueId: string;
  readonly baseVersion: number;
  /** Absent for the next one. */
  readonly version?: number;
  /** The time from which it holds. A time in the past means at once. */
  readonly fromMs: number;
  readonly isRollback: boolean;
  readonly writeId: string;
  readonly origin: VersionOrigin;
  readonly document: string;
}

export type ApplyReply =
  | {
      readonly kind: 'applied';
      readonly version: number;
      readonly fromMs: number;
      readonly appliedMs: number;
    }
  | { readonly kind: 'changed' | 'full'; readonly version: number }
  | { readonly kind: 'pending'; readonly version: number; readonly fromMs: number };

/** The last version, whether or not its time has come. */
export interface CatalogueHead {
  /** Distinguishes this catalogue from that of another store. */
  readonly id: string;
  readonly version: number;
  readonly digest: string;
}

type Connection = Pick<RedisConnection, 'send'>;

const { head, notes, documents } = CATALOGUE_KEYS;

const applyScript = loadLuaScript(
  new URL('./apply.lua', import.meta.url),
  ['head', 'notes', 'documents'],
  [
    ...([
      'catalogue_id',
      'base_version',
      'version',
      'from_ms',
      'is_rollback',
      'digest',
      'write_id',
    ] as const),
    ...(['note', 'document', 'versions_max', 'pending_max'] as const),
  ],
);

const readScript = loadLuaScript(
  new URL('./read.lua', import.meta.url),
  ['head', 'notes', 'documents'],
  [],
);

export async function applyVersion(connection: Connection, order: ApplyOrder): Promise<ApplyReply> {
  const reply = await applyScript.call(
    connection,
    { head, notes, documents },
    {
      catalogue_id: order.catalogueId,
      base_version: order.baseVersion,
      version: order.version ?? '',
      from_ms: order.fromMs,
      is_rollback: order.isRollback ? 1 : 0,
      digest: digestDocument(order.document),
      write_id: order.writeId,
      note: encodeOrigin(order.origin),
      document: order.document,
      versions_max: VERSIONS_MAX,
      pending_max: PENDING_MAX,
    },
  );
  const [kind, version, fromMs, appliedMs] = reply as [ApplyReply['kind'], number, number, number];
  if (kind === 'applied') return { kind, version, fromMs, appliedMs };
  return kind === 'pending' ? { kind, version, fromMs } : { kind, version };
}

/** One short command, since every node asks it every second. Undefined if there is no catalogue. */
export async function readHead(connection: Connection): Promise<CatalogueHead | undefined> {
  const reply = await connection.send('hmget', [head, 'id', 'version', 'digest']);
  const [id, version, digest] = (reply as (string | null)[]).map((text) => text ?? '');
  if (!version) return undefined;
  return { id: id ?? '', version: Number(version), digest: digest ?? '' };
}

/** The version that holds and those that wait for their time, the oldest first. */
export async function readVersions(connection: Connection): Promise<readonly StoredVersion[]> {
  const reply = await readScript.call(connection, { head, notes, documents }, {});
  const parts = reply as readonly (string | number)[];
  const found: StoredVersion[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const note = decodeNote(Number(parts[at]), String(parts[at + 1]));
    if (note !== undefined) found.unshift({ ...note, document: String(parts[at + 2]) });
  }
  return found;
}

/** Undefined if there is no such version, or not any more. */
export async function readVersion(
  connection: Connection,
  version: number,
): Promise<StoredVersion | undefined> {
  const [note, document] = (await Promise.all([
    connection.send('hget', [notes, String(version)]),
    connection.send('hget', [documents, String(version)]),
  ])) as [string | null, string | null];
  if (note === null || document === null) return undefined;
  const decoded = decodeNote(version, note);
  return decoded && { ...decoded, document };
}

/** What is known about all versions that are kept, the last first. */
export async function listVersions(connection: Connection): Promise<readonly VersionNote[]> {
  const reply = (await connection.send('hgetall', [notes])) as unknown;
  return pairsOf(reply)
    .flatMap(([version, text]) => decodeNote(Number(version), text) ?? [])
    .sort((one, other) => other.version - one.version);
}

/** The client returns a map or a list, depending on its protocol. */
function pairsOf(reply: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(reply)) return Object.entries(reply as Readonly<Record<string, string>>);
  const texts = reply.map(String);
  return texts.flatMap((text, at) => (at % 2 === 0 ? [[text, texts[at + 1] ?? ''] as const] : []));
}
