import type { Config } from '../../config/config.ts';
import { METRICS } from '../../metrics/metrics.ts';
import { type Finding, passCheck, skipCheck, warnCheck } from '../finding.ts';
import { askEndpoint } from './ask-endpoint.ts';

/** Enough for the metrics of a node with hundreds of models. */
const METRICS_CHARS_MAX = 16 * 1024 ** 2;

/** Compares `guards.trusted_proxies` with what a running node has seen of the proxies in front. */
export async function checkClientAddresses(config: Config): Promise<Finding> {
  const { trustedProxies } = config.guards;
  if (trustedProxies === 0 && config.listen.kind === 'unix') {
    return warnCheck(
      'over a unix socket, and no proxy is trusted: all clients count as one',
      'Set guards.trusted_proxies to the number of proxies in front, 1 for one balancer.',
    );
  }
  const answer = await askEndpoint(config.ops.listen, '/metrics', METRICS_CHARS_MAX);
  if (answer.kind !== 'answer') return skipCheck('no node runs that could have seen clients');
  return judgeDoubts(trustedProxies, {
    tooLow: readDoubts(answer.text, 'too_low'),
    tooHigh: readDoubts(answer.text, 'too_high'),
  });
}

function judgeDoubts(
  trustedProxies: number,
  { tooLow, tooHigh }: { readonly tooLow: number; readonly tooHigh: number },
): Finding {
  if (tooLow > 0) {
    return warnCheck(
      `${trustedProxies} proxies are trusted, and ${tooLow} requests came through more: all clients of a proxy count as one`,
      'Set guards.trusted_proxies to the number of proxies in front, 1 for one balancer.',
    );
  }
  if (tooHigh > 0) {
    return warnCheck(
      `${trustedProxies} proxies are trusted, and ${tooHigh} requests came past them: clients can invent addresses`,
      'Let nobody but the balancer reach `listen`, or lower guards.trusted_proxies.',
    );
  }
  return passCheck(`${trustedProxies} proxies are trusted, and no request showed another number`);
}

function readDoubts(metrics: string, doubt: string): number {
  const prefix = `${METRICS.proxyDoubts.name}{doubt="${doubt}"} `;
  const line = metrics.split('\n').find((each) => each.startsWith(prefix));
  return line === undefined ? 0 : Number(line.slice(prefix.length));
}
