import { randomBytes } from 'node:crypto';
import type { CatalogueDesk } from '../../src/catalogue-store/catalogue-desk.ts';
import { createCatalogueDesk } from '../../src/catalogue-store/create-catalogue-desk.ts';
import { keepCatalogue } from '../../src/catalogue-store/keep-catalogue.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { Clock } from '../../src/lib/time/clock.ts';
import type { TestDirectory } from '../accounts/use-directory.ts';
import { type CleanUp, createTempDir } from '../support/create-temp-dir.ts';
import { createMemoryLog } from '../support/memory-log.ts';

interface TestStore {
  readonly directory: Pick<TestDirectory, 'connection' | 'countReplicas'>;
  readonly clock: Clock;
}

/** The catalogue of a node that is alone, kept in Redis. */
export async function openCatalogueDesk(
  { directory: { connection, countReplicas }, clock }: TestStore,
  cleanUp: CleanUp,
): Promise<CatalogueDesk> {
  const { upstreams, models, plans } = parseConfig({ path: undefined, text: '', env: {} });
  const line = { publish: async () => {}, onMessage: () => {}, onOpen: () => {} };
  const shared = { connection, line, upstreams: () => upstreams, randomBytes, clock };
  const keeper = await keepCatalogue({
    ...{ ...shared, seed: { models, plans }, dataDir: createTempDir(cleanUp) },
    ...{ onChange: () => {}, log: createMemoryLog() },
  });
  cleanUp(() => keeper.stop());
  return createCatalogueDesk({ ...shared, countReplicas, keeper });
}
