import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import type { CurrentCatalogue, NamedUpstream } from '../config/config.ts';
import { type CatalogueHead, readHead, readVersions } from './catalogue-records.ts';
import { digestDocument, type StoredVersion } from './catalogue-version.ts';
import { type CopySaver, createCopySaver } from './copy-saver.ts';
import { createKnownVersions, type KnownVersions, type RefusedVersion } from './known-versions.ts';
import { type OpenOptions, openCatalogue, restore } from './open-catalogue.ts';

/** A message announces a new version at once. This check finds one whose message was missed. */
const CHECK_MS = 1_000;
/** The longest time that a timer can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The messages about the catalogue between the nodes of a fleet. */
export interface CatalogueLine {
  publish(message: { readonly type: 'catalogue'; readonly version: number }): Promise<void>;
  onMessage(type: 'catalogue', handler: (message: { readonly version: number }) => void): void;
  /** Messages that were published before this are lost. */
  onOpen(handler: () => void): void;
}

export interface CatalogueState {
  /** The version that this node sells. */
  readonly version: number;
  /** The version that should hold, if this node cannot sell it. */
  readonly refused: RefusedVersion | undefined;
}

/** The catalogue of a node whose settings leave it to Redis. */
export interface CatalogueKeeper {
  state(): CatalogueState;
  /** What these upstreams can sell. Undefined if there is no such version any more. */
  findFor(upstreams: readonly NamedUpstream[]): CurrentCatalogue | undefined;
  /** What this node sells. */
  current(): CurrentCatalogue;
  /**
   * Why a node with these upstreams could not keep selling the version that holds, or sell one
   * that will hold.
   */
  findRefused(upstreams: readonly NamedUpstream[]): RefusedVersion | undefined;
  /** Resolves when this node sells what Redis has, or could not find out. */
  look(): Promise<void>;
  stop(): void;
}

interface KeeperOptions extends OpenOptions {
  readonly line: CatalogueLine;
  /** Called whenever the node sells another version. */
  readonly onChange: () => void;
}

/** Rejects if this node can sell no version, or knows none. */
export async function keepCatalogue(options: KeeperOptions): Promise<CatalogueKeeper> {
  const { line, upstreams, onChange, dataDir, clock, log } = options;
  const known = createKnownVersions();
  const copies = createCopySaver(dataDir, log);
  const { id } = await openCatalogue(options, known, copies);
  const reader = createReader(options, { known, copies, firstId: id });
  let sold = chooseFirst(known, options);
  let refused: RefusedVersion | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Sells the version that holds now, and chooses again when the next one does. */
  const choose = () => {
    const nowMs = clock.nowMs();
    const choice = known.choose(upstreams(), nowMs);
    if (choice.refused !== undefined && choice.refused.version !== refused?.version) {
      log.error({ ...choice.refused, sold: sold.version }, 'this node cannot sell a new catalogue');
    }
    refused = choice.refused;
    if (choice.catalogue !== undefined && choice.catalogue !== sold) {
      sold = choice.catalogue;
      log.info({ version: sold.version }, 'another version of the catalogue holds');
      onChange();
    }
    clearTimeout(timer);
    const nextMs = known.nextMs(nowMs);
    if (nextMs === undefined) return;
    timer = setTimeout(choose, Math.min(nextMs - nowMs, TIMER_MAX_MS)).unref();
  };
  const checks = shareRuns(async () => {
    await reader.read();
    choose();
  });

  line.onMessage('catalogue', () => void checks.run());
  line.onOpen(() => void checks.run());
  const polling = setInterval(() => {
    if (!checks.isRunning()) void checks.run();
  }, CHECK_MS);
  choose();

  return {
    state: () => ({ version: sold.version ?? 0, refused }),
    findFor: (wanted) => known.choose(wanted, clock.nowMs()).catalogue,
    current: () => sold,
    findRefused: (wanted) => known.findRefused(wanted, clock.nowMs()),
    look: checks.run,
    stop() {
      clearInterval(polling);
      clearTimeout(timer);
    },
  };
}

/** Compares what this node knows with what Redis has. */
function createReader(
  options: KeeperOptions,
  { known, copies, firstId }: { known: KnownVersions; copies: CopySaver; firstId: string },
) {
  const { connection, log } = options;
  let id = firstId;
  let digest = digestOf(known.last());

  const take = async (head: CatalogueHead) => {
    const versions = await readVersions(connection);
    const last = versions.at(-1);
    if (last === undefined) return;
    if (head.id === id) known.add(versions);
    else {
      log.warn({ version: last.version }, 'Redis has another catalogue: this node takes it');
      known.replace(versions);
    }
    id = head.id;
    digest = digestOf(last);
    copies.save({ id, versions: known.all() });
  };

  return {
    async read(): Promise<void> {
      copies.retry();
      try {
        const head = await readHead(connection);
        const last = known.last()?.version ?? 0;
        if (head === undefined || (head.id === id && head.version < last)) {
          await restore(options, { id, known, headVersion: head?.version ?? 0 });
        } else if (head.id !== id || head.version !== last || head.digest !== digest) {
          await take(head);
        }
      } catch (error) {
        log.debug({ err: error }, 'the catalogue cannot be read: the node goes on as it is');
      }
    },
  };
}

interface SharedRuns {
  isRunning(): boolean;
  /** A call during a run gets one more run after it, since the running one may have read before. */
  run(): Promise<void>;
}

function shareRuns(once: () => Promise<void>): SharedRuns {
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  const start = (): Promise<void> => {
    following = undefined;
    running = once().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    isRunning: () => running !== undefined,
    run() {
      if (running === undefined) return start();
      following ??= running.then(start);
      return following;
    },
  };
}

function digestOf(version: StoredVersion | undefined): string {
  return version === undefined ? '' : digestDocument(version.document);
}

function chooseFirst(known: KnownVersions, { upstreams, clock }: KeeperOptions): CurrentCatalogue {
  const { catalogue, refused } = known.choose(upstreams(), clock.nowMs());
  if (catalogue !== undefined) return catalogue;
  const problems = (refused?.problems ?? []).map((problem) => `- ${problem}`);
  throw new Error(
    [`this node cannot sell version ${refused?.version} of the catalogue:`, ...problems].join('\n'),
  );
}
