#!/usr/bin/env node
import cluster from 'node:cluster';

// Each loads only what it needs: a worker no commands, a command no node.
if (cluster.isWorker) {
  const { runWorkerProcess } = await import('./worker/run-worker-process.ts');
  runWorkerProcess();
} else {
  const { runCli } = await import('./cli/run-cli.ts');
  const { flushOutput } = await import('./cli/terminal.ts');
  const exitCode = await runCli(process.argv, async (options) => {
    const { runPrimary } = await import('./primary/run-primary.ts');
    return runPrimary(options);
  });
  await flushOutput();
  process.exit(exitCode);
}
