import { randomBytes } from 'node:crypto';
import type { CountReplicas } from '../accounts/count-replicas.ts';
import type { CatalogueDesk } from '../catalogue-store/catalogue-desk.ts';
import { createCatalogueDesk } from '../catalogue-store/create-catalogue-desk.ts';
import { createFileDesk } from '../catalogue-store/create-file-desk.ts';
import {
  type CatalogueLine,
  type CatalogueState,
  keepCatalogue,
} from '../catalogue-store/keep-catalogue.ts';
import type { Config, CurrentCatalogue } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { describeCatalogue } from '../config/describe-catalogue.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';

/** What a node sells: what its settings say, or what Redis has. */
export interface SoldCatalogue {
  /** What workers with these settings sell. */
  currentFor(config: Config): CurrentCatalogue;
  /** Undefined if there is no version any more that workers with these settings could sell. */
  findFor(config: Config): CurrentCatalogue | undefined;
  /** Throws a `ConfigError` if the node could not keep selling what is sold. */
  check(config: Config): void;
  /** Undefined if the settings file rules. */
  state(): CatalogueState | undefined;
  readonly desk: CatalogueDesk;
  /**
   * Takes what Redis has, if the settings say so. Until then the node sells what its settings say.
   */
  open(options: OpenOptions): Promise<void>;
  stop(): void;
}

interface OpenOptions {
  readonly connection: RedisConnection;
  readonly countReplicas: CountReplicas;
  readonly line: CatalogueLine;
  readonly metrics: Pick<ProcessMetrics, 'catalogueVersion' | 'catalogueRefused'>;
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is sold if the settings file rules. */
function catalogueOf({ models, plans }: Config): CurrentCatalogue {
  return { version: undefined, models, plans };
}

/** A reload changes what `configInUse` returns. */
export function createSoldCatalogue(configInUse: () => Config): SoldCatalogue {
  let source = sellFromFile(configInUse);
  return {
    currentFor: (given) => source.currentFor(given),
    findFor: (given) => source.findFor(given),
    check: (next) => source.check(next),
    state: () => source.state(),
    get desk() {
      return source.desk;
    },
    async open(options) {
      if (configInUse().catalogue !== 'store') return;
      source = await sellFromStore(configInUse, options);
    },
    stop: () => source.stop(),
  };
}

type Source = Omit<SoldCatalogue, 'open'>;

async function sellFromStore(
  configInUse: () => Config,
  { connection, countReplicas, line, metrics, onChange, clock, log }: OpenOptions,
): Promise<Source> {
  const { dataDir, models, plans } = configInUse();
  const upstreams = () => configInUse().upstreams;
  const keeper = await keepCatalogue({
    ...{ connection, line, dataDir, upstreams, onChange, randomBytes, clock, log },
    seed: { models, plans },
  });
  metrics.catalogueVersion.watch((set) => set({}, keeper.state().version));
  metrics.catalogueRefused.watch((set) => set({}, keeper.state().refused === undefined ? 0 : 1));
  return {
    currentFor: (given) => keeper.findFor(given.upstreams) ?? keeper.current(),
    findFor: (given) => keeper.findFor(given.upstreams),
    check(next) {
      const refused = keeper.findRefused(next.upstreams);
      if (refused === undefined) return;
      const { version, problems } = refused;
      const said = problems.map((problem) => `version ${version} of the catalogue: ${problem}`);
      throw new ConfigError(said);
    },
    state: keeper.state,
    desk: createCatalogueDesk({
      ...{ connection, countReplicas, keeper, line, upstreams, randomBytes },
    }),
    stop: keeper.stop,
  };
}

function sellFromFile(configInUse: () => Config): Source {
  return {
    currentFor: catalogueOf,
    findFor: catalogueOf,
    check: () => {},
    state: () => undefined,
    desk: createFileDesk(() => describeCatalogue(configInUse(), configInUse().upstreams)),
    stop: () => {},
  };
}
