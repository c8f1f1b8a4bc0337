import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Exchange } from '../../src/http/exchange.ts';
import type { HttpRoute } from '../../src/http/routes/route-table.ts';
import { encodeHybridRefusal } from '../../src/protocol/encode-hybrid-refusal.ts';

/** The real program with a few extra routes that reveal what happens to open exchanges. */
function probe(
  path: string,
  handle: (exchange: Exchange, value: number) => Promise<void> | void,
): HttpRoute {
  return {
    method: 'GET',
    path,
    timeMaxMs: 120_000,
    encodeRefusal: encodeHybridRefusal,
    handle: (exchange) => handle(exchange, Number(exchange.head.query)),
  };
}

const PROBES = [
  probe('/probe/pid', (exchange) => exchange.answerJson(200, { pid: process.pid })),
  probe('/probe/slow', async (exchange, answerAfterMs) => {
    await sleep(answerAfterMs);
    exchange.answerJson(200, { pid: process.pid });
  }),
  probe('/probe/stream', async (exchange, events) => {
    const stream = exchange.startStream({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
    });
    for (let i = 1; i <= events && !stream.isFinished; i++) {
      await stream.write(`data: ${i} ${process.pid}\n\n`);
      await sleep(100);
    }
    stream.endStream();
  }),
  probe('/probe/crash', () => {
    process.kill(process.pid, 'SIGKILL');
  }),
  // A full collection: all living objects move to the old generation at once.
  probe('/probe/collect', (exchange) => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    exchange.answerJson(200, { pid: process.pid });
  }),
  probe('/probe/throw-later', async (exchange) => {
    exchange.answerJson(200, { pid: process.pid });
    setTimeout(() => {
      throw new Error('thrown outside of any request');
    });
  }),
  probe('/probe/reject-later', async (exchange) => {
    void Promise.reject(new Error('rejected outside of any request'));
    exchange.answerJson(200, { pid: process.pid });
  }),
];

// Each process loads only what it needs, as in `src/main.ts`: the three processes of each node take
// most of the tests' resources.
if (cluster.isWorker) {
  const { runWorkerProcess } = await import('../../src/worker/run-worker-process.ts');
  runWorkerProcess(PROBES);
} else {
  const { runCli } = await import('../../src/cli/run-cli.ts');
  const { runPrimary } = await import('../../src/primary/run-primary.ts');
  process.exit(await runCli(process.argv, runPrimary));
}
