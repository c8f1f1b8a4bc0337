import { expect, test } from 'vitest';
import { runUntilSilent } from '../../../src/supervise/run-until-silent.ts';

const SILENCE_MAX_MS = 2_000;

function run(script: string, silenceMaxMs = SILENCE_MAX_MS) {
  const { signal } = new AbortController();
  return runUntilSilent(['-e', script], { input: 'given', silenceMaxMs, signal });
}

test('a process may run for as long as it tells of its progress', async () => {
  const ticks = 12;
  const script = `let ticks = 0;
    const timer = setInterval(() => {
      console.log('a page');
      if (++ticks === ${ticks}) clearInterval(timer);
    }, 250);`;
  const startedMs = performance.now();
  await run(script);
  expect(performance.now() - startedMs).toBeGreaterThan(SILENCE_MAX_MS);
});

test('a process that stands still is killed', async () => {
  const script = 'setInterval(() => {}, 1_000)';
  await expect(run(script, 100)).rejects.toThrow('the process ended with SIGKILL');
});

test('what a process has written when it failed is told', async () => {
  const script = `process.stdin.on('data', (data) => {
    console.error('no room for what is ' + data);
    process.exitCode = 3;
  });`;
  await expect(run(script)).rejects.toThrow('no room for what is given');
});
