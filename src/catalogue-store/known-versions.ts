import { buildCatalogue } from '../config/build-catalogue.ts';
import type { CurrentCatalogue, NamedUpstream } from '../config/config.ts';
import { checkCatalogue, parseCatalogue } from '../config/parse-catalogue.ts';
import type { CatalogueDocument } from '../config/schema/catalogue-schema.ts';
import type { StoredVersion } from './catalogue-version.ts';

/** How many versions whose time has come a node remembers, in case it cannot sell the last one. */
const PAST_VERSIONS_MAX = 10;
/** Versions for sets of upstreams, of which a node rarely has two. */
const BUILT_MAX = 64;

interface KnownVersion extends StoredVersion {
  readonly parsed: CatalogueDocument | undefined;
  readonly problems: readonly string[];
}

/** A version that a node cannot sell. */
export interface RefusedVersion {
  readonly version: number;
  readonly problems: readonly string[];
}

export interface Choice {
  /** Undefined if the node can sell none. */
  readonly catalogue: CurrentCatalogue | undefined;
  /** The version that should hold, if the node cannot sell it. */
  readonly refused: RefusedVersion | undefined;
}

/** The versions of the catalogue that a node knows, the oldest first. */
export interface KnownVersions {
  all(): readonly StoredVersion[];
  last(): StoredVersion | undefined;
  /** Takes the versions that hold or wait. They replace those with the same numbers. */
  add(versions: readonly StoredVersion[]): void;
  /** Forgets all, then takes these. */
  replace(versions: readonly StoredVersion[]): void;
  /** The last version whose time has come and that a node with these upstreams can sell. */
  choose(upstreams: readonly NamedUpstream[], nowMs: number): Choice;
  /** The first version, beginning with the one that holds, that these upstreams cannot sell. */
  findRefused(upstreams: readonly NamedUpstream[], nowMs: number): RefusedVersion | undefined;
  /** When the next version holds. Undefined if none waits. */
  nextMs(nowMs: number): number | undefined;
}

export function createKnownVersions(): KnownVersions {
  let known: readonly KnownVersion[] = [];
  // Prices are looked up and admissions are gathered by identity, so nothing is built twice.
  const built = new Map<string, CurrentCatalogue>();

  const take = (versions: readonly KnownVersion[]) => {
    // A version is withdrawn if one that was applied after it holds earlier.
    known = versions.filter(
      ({ fromMs }, place) => !versions.slice(place + 1).some((later) => later.fromMs < fromMs),
    );
  };

  const build = (version: KnownVersion, upstreams: readonly NamedUpstream[]) => {
    // Which models an upstream can serve follows from its kind.
    const names = upstreams.map(({ name, kind }) => `${name} ${kind}`).join(',');
    const name = `${version.version} ${names}\n${version.document}`;
    const before = built.get(name);
    if (before !== undefined || version.parsed === undefined) return before;
    const catalogue = { version: version.version, ...buildCatalogue(version.parsed, upstreams) };
    if (built.size >= BUILT_MAX) built.delete([...built.keys()][0] ?? '');
    built.set(name, catalogue);
    return catalogue;
  };

  const duePlace = (nowMs: number) =>
    Math.max(
      0,
      known.findLastIndex((each) => dueMsOf(each) <= nowMs),
    );

  return {
    all: () => known,
    last: () => known.at(-1),
    add(versions) {
      const first = versions[0]?.version ?? Number.POSITIVE_INFINITY;
      const past = known.filter(({ version }) => version < first).slice(-PAST_VERSIONS_MAX);
      take([...past, ...versions.map(knowVersion)]);
    },
    replace: (versions) => take(versions.map(knowVersion)),
    choose(upstreams, nowMs) {
      const due = known.slice(0, duePlace(nowMs) + 1);
      const wanted = due.at(-1);
      const sold = due.findLast((each) => findProblems(each, upstreams).length === 0);
      const catalogue = sold && build(sold, upstreams);
      if (wanted === undefined || wanted === sold) return { catalogue, refused: undefined };
      const problems = findProblems(wanted, upstreams);
      return { catalogue, refused: { version: wanted.version, problems } };
    },
    findRefused(upstreams, nowMs) {
      for (const each of known.slice(duePlace(nowMs))) {
        const problems = findProblems(each, upstreams);
        if (problems.length > 0) return { version: each.version, problems };
      }
      return undefined;
    },
    nextMs: (nowMs) => known.map(dueMsOf).find((dueMs) => dueMs > nowMs),
  };
}

/** A version that holds at once does so whatever the clock of this node says. */
function dueMsOf({ fromMs, appliedMs }: StoredVersion): number {
  return fromMs <= appliedMs ? 0 : fromMs;
}

function knowVersion(stored: StoredVersion): KnownVersion {
  try {
    const { document, problems } = parseCatalogue(JSON.parse(stored.document));
    return { ...stored, parsed: document, problems };
  } catch (error) {
    return { ...stored, parsed: undefined, problems: [String(error)] };
  }
}

function findProblems({ parsed, problems }: KnownVersion, upstreams: readonly NamedUpstream[]) {
  return parsed === undefined ? problems : checkCatalogue(parsed, upstreams);
}
