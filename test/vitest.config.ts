import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/**/*.test.ts'],
    // Most tests start real servers and clusters: two files at a time keep two cores busy, more only add noise.
    maxWorkers: 2,
    maxConcurrency: 100,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
