import cluster from 'node:cluster';
import type { RefusalBatch } from '../../src/lib/refusal-batch.ts';

/** An order of the test to the primary. The first must be `start`. */
export type WorkerOrder =
  | { readonly type: 'start'; readonly settings: string; readonly areBooksFull: boolean }
  | { readonly type: 'books_full'; readonly isFull: boolean }
  | { readonly type: 'drain' };

/** What the primary tells the test. */
export type WorkerNews =
  | { readonly type: 'listening' | 'exited' }
  | { readonly type: 'refusals'; readonly batch: RefusalBatch };

/** A real worker below a primary that does nothing but pass on what the worker tells. */
if (cluster.isWorker) {
  const { runWorkerProcess } = await import('../../src/worker/run-worker-process.ts');
  runWorkerProcess();
} else {
  process.once('message', (order: WorkerOrder) => void runPrimary(order));
}

async function runPrimary(first: WorkerOrder): Promise<void> {
  const { packConfig } = await import('../../src/config/pack-config.ts');
  const { parseConfig } = await import('../../src/config/parse-config.ts');
  const { forkWorker } = await import('../../src/supervise/fork-worker.ts');
  const tell = (news: WorkerNews) => process.send?.(news);
  if (first.type !== 'start') return;
  const { settings, areBooksFull } = first;
  const config = parseConfig({ path: undefined, text: settings, env: {} });
  const packed = {
    config: packConfig(config),
    configVersion: 'test',
    embeddedRedisPath: undefined,
  };
  const worker = forkWorker(
    { worker: 1, ...packed },
    {
      catalogue: () => ({ version: undefined, models: config.models, plans: config.plans }),
      nextCatalogue: () => undefined,
      journal: () => Promise.reject(new Error('there is no journal')),
      downUpstreams: () => [],
      areBooksFull: () => areBooksFull,
      noteRefusals: (batch) => tell({ type: 'refusals', batch }),
      onActivity: () => {},
      onReport: () => {},
    },
  );
  process.on('message', (order: WorkerOrder) => {
    if (order.type === 'books_full') worker.announceBooksFull(order.isFull);
    if (order.type === 'drain') worker.drain({ timeoutMs: 5_000, lingerMs: 0 });
  });
  void worker.exited.then(() => tell({ type: 'exited' }));
  await worker.listening;
  tell({ type: 'listening' });
}
