import type { UpstreamConfig } from '../../config/config.ts';
import { pathUnder } from '../../lib/address/path-under.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { HttpFailure } from '../../upstream/http1/http-failure.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';
import type { Check } from '../run-check.ts';
import { askUpstream, type UpstreamAnswer } from './ask-upstream.ts';
import { checkCertificate } from './check-certificate.ts';

export function createUpstreamChecks(upstream: UpstreamConfig, clock: Clock): Check[] {
  const { name: subject } = upstream;
  if (upstream.url === undefined) {
    const run = () => skipCheck('simulated');
    return [
      { name: 'upstream-reachable', subject, run },
      { name: 'upstream-key', subject, run },
      { name: 'upstream-certificate', subject, run },
    ];
  }
  const url = new URL(upstream.url);
  const modelsPath = pathUnder(url.href, '/models');
  const probePath = upstream.probe?.path ?? modelsPath;
  const asking = askUpstream(upstream, url, probePath, clock);
  // The path of a probe may be open to everybody.
  const askingKey =
    probePath === modelsPath ? asking : askUpstream(upstream, url, modelsPath, clock);
  return [
    {
      name: 'upstream-reachable',
      subject,
      run: async () => judgeReachable(await asking, url),
    },
    {
      name: 'upstream-key',
      subject,
      run: async () => judgeKey(await askingKey, upstream, modelsPath),
    },
    {
      name: 'upstream-certificate',
      subject,
      run: () => checkCertificate(upstream, url, clock),
    },
  ];
}

function judgeReachable(answer: UpstreamAnswer, { origin }: URL): Finding {
  switch (answer.kind) {
    case 'answer':
      return answer.status < 500
        ? passCheck(origin)
        : warnCheck(
            `${origin} answers with status ${answer.status}`,
            'Check the upstream: it is running, but reports errors.',
          );
    case 'silent':
      return failCheck(
        `${origin} says nothing within ${answer.afterMs / 1_000} s`,
        'Look at the upstream: it takes connections and does not answer.',
      );
    case 'failure':
      return failCheck(`${origin}: ${answer.failure.reason}`, adviseOn(answer.failure));
  }
}

function adviseOn({ kind }: HttpFailure): string {
  switch (kind) {
    case 'connect_failed':
      return 'Start the upstream, or correct its url, its name in DNS or the firewall.';
    case 'connect_timeout':
      return 'Allow connections to the upstream, or raise its timeouts.connect.';
    case 'tls_failed':
      return 'Renew the certificate, or name its authority in tls.ca_file.';
    default:
      return 'Mend its url: what answers there does not speak HTTP/1.1 as it should.';
  }
}

function judgeKey(answer: UpstreamAnswer, upstream: UpstreamConfig, path: string): Finding {
  const { apiKey } = upstream;
  if (answer.kind !== 'answer') return skipCheck('the upstream does not answer');
  const { status } = answer;
  if (status === 401 || status === 403) {
    return apiKey === undefined
      ? failCheck(
          `a key is required (status ${status})`,
          'Give the upstream an api_key in the settings.',
        )
      : failCheck(
          `the key is refused (status ${status})`,
          'Put a valid key into api_key of this upstream.',
        );
  }
  if (apiKey === undefined) return skipCheck('there is no api_key');
  return status >= 200 && status <= 299
    ? passCheck('the key is accepted')
    : skipCheck(`GET ${path} answers with status ${status}, which says nothing about the key`);
}
