import type { Config } from '../config/config.ts';
import type { ProxyDoubt } from '../keys/proxy-watch.ts';
import type { Log } from '../lib/log.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';

const WARNINGS: Readonly<Record<ProxyDoubt, string>> = {
  too_low:
    'guards.trusted_proxies looks too low: clients come through a proxy that it does not count, and all of them count as one',
  too_high:
    'guards.trusted_proxies looks too high: a client came past the proxies, and can invent addresses',
};

interface ProxyDoubtOptions {
  readonly config: Config;
  readonly metrics: ProcessMetrics;
  readonly log: Log;
}

/**
 * Counts every doubt about the number of trusted proxies, and logs a warning once for each kind.
 */
export function createProxyDoubts({ config, metrics, log }: ProxyDoubtOptions) {
  const counts = {
    too_low: metrics.proxyDoubts.at({ doubt: 'too_low' }),
    too_high: metrics.proxyDoubts.at({ doubt: 'too_high' }),
  };
  const warned = new Set<ProxyDoubt>();
  return (doubt: ProxyDoubt): void => {
    counts[doubt].add(1);
    if (warned.has(doubt)) return;
    warned.add(doubt);
    log.warn({ trustedProxies: config.guards.trustedProxies }, WARNINGS[doubt]);
  };
}
