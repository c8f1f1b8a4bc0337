import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    // Most tests start real servers and then wait for them: four files at a time keep two cores
    // busy.
    maxWorkers: 4,
    maxConcurrency: 100,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
