import { defineConfig } from 'vitest/config';

/** Files that look at the process that they run in: at its heap, or at what V8 made of its code. */
const WITH_OWN_PROCESS = [
  'test/http/stream-memory.test.ts',
  'test/quota/recent-settlements.test.ts',
  'test/unit/quicken-globals.test.ts',
  'test/unit/quicken-strings.test.ts',
  'test/unit/redis-client-strings.test.ts',
  'test/unit/upstream/simulated-faults.test.ts',
  'test/upstream/http1/pause.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Most tests start real servers and then wait for them: four files at a time keep two cores
    // busy.
    maxWorkers: 4,
    maxConcurrency: 100,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: WITH_OWN_PROCESS,
          // A new process for each file took a quarter of the whole run's CPU time, mostly to load the same
          // modules.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: WITH_OWN_PROCESS } },
    ],
  },
});
