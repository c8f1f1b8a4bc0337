import type { CountReplicas } from '../accounts/count-replicas.ts';
import { createRecordStore, type RecordStore } from '../accounts/record-store.ts';
import type { NamedUpstream } from '../config/config.ts';
import { type Difference, diffDocuments } from '../config/diff-settings.ts';
import { checkCatalogue, parseCatalogue } from '../config/parse-catalogue.ts';
import type { CatalogueDocument } from '../config/schema/catalogue-schema.ts';
import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { CATALOGUE_KEYS } from '../redis/redis-keys.ts';
import type { AppliedVersion, CatalogueChange, CatalogueDesk } from './catalogue-desk.ts';
import { CatalogueError } from './catalogue-error.ts';
import {
  type ApplyOrder,
  type ApplyReply,
  applyVersion,
  DOCUMENT_BYTES_MAX,
  listVersions,
  PENDING_MAX,
  readHead,
  readVersion,
} from './catalogue-records.ts';
import type { StoredVersion, VersionOrigin } from './catalogue-version.ts';
import type { CatalogueKeeper, CatalogueLine } from './keep-catalogue.ts';

const ID_CHARS = 16;

interface DeskOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly countReplicas: CountReplicas;
  readonly keeper: Pick<CatalogueKeeper, 'state' | 'look'>;
  readonly line: Pick<CatalogueLine, 'publish'>;
  /** The upstreams of the settings in use. */
  readonly upstreams: () => readonly NamedUpstream[];
  readonly randomBytes: RandomBytes;
}

/** Reads and changes the catalogue that Redis has. */
export function createCatalogueDesk(options: DeskOptions): CatalogueDesk {
  const { connection, keeper, upstreams } = options;
  const store = createRecordStore(connection);
  const read = (version: number) => readStored(connection, store, version);

  const preview = async (change: CatalogueChange) => {
    refuseUnsold(change.document, upstreams());
    encodeDocument(change.document);
    const head = await store.read(() => readHead(connection));
    if (head?.version !== change.baseVersion) throw refuseChanged(head?.version ?? 0);
    return diffDocuments((await read(change.baseVersion)).document, change.document);
  };

  return {
    async read() {
      const head = await store.read(() => readHead(connection));
      const { document, ...last } = await read(head?.version ?? 0);
      const { version: soldVersion, refused } = keeper.state();
      return { rules: 'store', last, document, soldVersion, refused };
    },
    preview,
    async apply(change) {
      const { baseVersion, document, fromMs = 0, who } = change;
      const changes = await preview(change);
      const origin: VersionOrigin = { kind: 'apply', who, rolled_back_to: null };
      const order = { baseVersion, document: encodeDocument(document), fromMs, origin };
      return applyAndAnnounce(options, store, { ...order, isRollback: false }, changes);
    },
    async rollBack({ baseVersion, version, who }) {
      const { document } = await read(version);
      const changes = await preview({ baseVersion, document, fromMs: undefined, who });
      const origin: VersionOrigin = { kind: 'rollback', who, rolled_back_to: version };
      const order = { baseVersion, document: encodeDocument(document), fromMs: 0, origin };
      return applyAndAnnounce(options, store, { ...order, isRollback: true }, changes);
    },
    listVersions: () => store.read(() => listVersions(connection)),
    readVersion: read,
    async diff(from, to) {
      const [before, after] = [await read(from), await read(to)];
      return diffDocuments(before.document, after.document);
    },
  };
}

async function applyAndAnnounce(
  { connection, countReplicas, keeper, line, randomBytes }: DeskOptions,
  store: RecordStore,
  asked: Omit<ApplyOrder, 'catalogueId' | 'writeId'>,
  changes: readonly Difference[],
): Promise<AppliedVersion> {
  const newId = () => randomBase62(ID_CHARS, randomBytes);
  const order = { ...asked, catalogueId: newId(), writeId: newId() };
  const reply = await store.ask(() => applyVersion(connection, order));
  if (reply.kind !== 'applied') throw refuseReply(reply);
  const { version, fromMs } = reply;
  // A node that misses the message finds the version at its next check.
  line.publish({ type: 'catalogue', version }).catch(() => {});
  await keeper.look();
  const replicated = await countReplicas(CATALOGUE_KEYS.head);
  return { version, fromMs, changes, replicated };
}

/** A document of a later program may have fields that this one does not know. */
async function readStored(
  connection: Pick<RedisConnection, 'send'>,
  store: RecordStore,
  version: number,
): Promise<Omit<StoredVersion, 'document'> & { readonly document: CatalogueDocument }> {
  const found = await store.read(() => readVersion(connection, version));
  if (found === undefined) {
    throw new CatalogueError('unknown_version', `version ${version} is not kept, or never was`);
  }
  const { document, problems } = parseCatalogue(JSON.parse(found.document));
  if (document === undefined) {
    const message = `this node cannot read version ${version}: see problems`;
    throw new CatalogueError('invalid_catalogue', message, problems);
  }
  return { ...found, document };
}

function encodeDocument(document: CatalogueDocument): string {
  const text = JSON.stringify(document);
  if (Buffer.byteLength(text) <= DOCUMENT_BYTES_MAX) return text;
  const message = `the catalogue has more than ${DOCUMENT_BYTES_MAX} bytes`;
  throw new CatalogueError('catalogue_too_large', message);
}

function refuseUnsold(document: CatalogueDocument, upstreams: readonly NamedUpstream[]): void {
  const problems = checkCatalogue(document, upstreams);
  if (problems.length === 0) return;
  throw new CatalogueError('invalid_catalogue', 'nothing was changed: see problems', problems);
}

function refuseReply(reply: Exclude<ApplyReply, { readonly kind: 'applied' }>): CatalogueError {
  switch (reply.kind) {
    case 'changed':
      return refuseChanged(reply.version);
    case 'full': {
      const message = `${PENDING_MAX} versions wait for their time, which is the most`;
      return new CatalogueError('catalogue_full', message);
    }
    case 'pending': {
      const from = new Date(reply.fromMs).toISOString();
      return new CatalogueError(
        'catalogue_pending',
        `version ${reply.version} is to hold from ${from}: a change may not hold before it; a rollback withdraws it`,
      );
    }
  }
}

function refuseChanged(version: number): CatalogueError {
  return new CatalogueError(
    'catalogue_changed',
    `the catalogue was changed meanwhile: version ${version} is the last one`,
  );
}
