import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessMetrics } from './process-metrics.ts';

/** How often the event loop is checked. */
const RESOLUTION_MS = 20;
const ROUND_MS = 1_000;
const NANOS_PER_SECOND = 1e9;

/** Reports what every process knows about itself, as long as it runs. */
export function watchProcess(
  { eventLoopLag, memory }: Pick<ProcessMetrics, 'eventLoopLag' | 'memory'>,
  name: 'primary' | 'worker',
): void {
  const lag = eventLoopLag.at({ process: name });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  setInterval(() => {
    // The pause between two checks counts as delay.
    const lagSeconds = delay.max / NANOS_PER_SECOND - RESOLUTION_MS / 1_000;
    lag.observe(Math.max(0, lagSeconds));
    delay.reset();
  }, ROUND_MS).unref();
  memory.watch((set) => {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const bytes = { rss, heap_used: heapUsed, heap_total: heapTotal, external };
    for (const [kind, value] of Object.entries(bytes)) set({ process: name, kind }, value);
  });
}
