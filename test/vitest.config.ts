import { defineConfig, type UserProjectConfigExport } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that look at the process that they run in: at its heap, or at what V8 made of its code; and
 * those that put a simulation in the place of modules of Node.js.
 */
const WITH_OWN_PROCESS = [
  'test/bookkeeping/compact-heap.test.ts',
  'test/http/stream-memory.test.ts',
  'test/quota/recent-settlements.test.ts',
  'test/simulation/books.test.ts',
  'test/simulation/settling.test.ts',
  'test/unit/lib/bytes/quicken-globals.test.ts',
  'test/unit/lib/bytes/quicken-strings.test.ts',
  'test/unit/protocol/chat/answer-shapes.test.ts',
  'test/unit/redis/redis-client-strings.test.ts',
  'test/unit/upstream/simulated-faults.test.ts',
  'test/upstream/http1/pause.test.ts',
];

/** Heavy proofs of whole nodes, which `npm run test:long` runs: 10 to 100 s of CPU time each. */
const LONG = ['test/**/*.long.test.ts'];

/** The longest file first and units last: short files keep all workers busy at the end of a run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const listOf = (folder: string) =>
      sorted.filter(({ moduleId }) => moduleId.includes(`/test/${folder}/`));
    const [first, last] = [listOf('faults'), listOf('unit')];
    return [...new Set([...first, ...sorted.filter((file) => !last.includes(file)), ...last])];
  }
}

function createProject(
  name: string,
  files: { readonly include: string[]; readonly exclude?: string[]; readonly isolate: boolean },
): UserProjectConfigExport {
  return {
    test: { name, ...files, maxConcurrency: 100, testTimeout: 180_000, hookTimeout: 180_000 },
  };
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Most tests start real servers and then wait for them: four files at a time keep two cores
    // busy.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      createProject('with its own process', { include: WITH_OWN_PROCESS, isolate: true }),
      // A new process for each file would load the same modules again: 0.7 s of CPU time a file.
      createProject('shared', {
        include: ['test/**/*.test.ts'],
        // test/agents has packages of its own, and some of them bring tests.
        exclude: ['**/node_modules/**', ...WITH_OWN_PROCESS, ...LONG],
        isolate: false,
      }),
      createProject('long', { include: LONG, exclude: ['**/node_modules/**'], isolate: false }),
    ],
  },
});
