#!/usr/bin/env node
import cluster from 'node:cluster';

// Each branch loads only what it needs: a worker loads no commands, and a command loads no node.
if (cluster.isWorker) {
  const { runWorkerProcess } = await import('./worker/run-worker-process.ts');
  runWorkerProcess();
} else {
  const { runCli } = await import('./cli/run-cli.ts');
  const { endWithReader, flushOutput } = await import('./cli/terminal.ts');
  let isNode = false;
  endWithReader(() => isNode);
  const exitCode = await runCli(process.argv, async (options) => {
    isNode = true;
    const { runPrimary } = await import('./primary/run-primary.ts');
    return runPrimary(options);
  });
  await flushOutput();
  process.exit(exitCode);
}
