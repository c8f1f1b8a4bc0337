import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { UpstreamConfig } from '../../config/config.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/units/time-units.ts';
import { parseOrigin } from '../../upstream/http1/origin.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';

const DAYS_WARN = 14;

export async function checkCertificate(
  { timeouts, tls }: UpstreamConfig,
  url: URL,
  clock: Clock,
): Promise<Finding> {
  const { protocol, host, port } = parseOrigin(url);
  if (protocol === 'http:') return skipCheck('without TLS');
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : undefined);
  const endMs = await readCertificateEnd({ host, port, serverName }, timeouts.connectMs);
  return endMs === undefined
    ? skipCheck('there is no certificate: the TLS handshake failed')
    : judgeCertificate(endMs, clock.nowMs());
}

export function judgeCertificate(endMs: number, nowMs: number): Finding {
  const day = new Date(endMs).toISOString().slice(0, 10);
  const daysLeft = Math.floor((endMs - nowMs) / DAY_MS);
  if (endMs <= nowMs) {
    return failCheck(`it expired on ${day}`, 'Have the upstream renew its certificate.');
  }
  const found = `good until ${day}`;
  return daysLeft < DAYS_WARN
    ? warnCheck(
        `${found}, ${daysLeft} more days`,
        'Have the upstream renew its certificate before that day.',
      )
    : passCheck(found);
}

/**
 * Reads when the certificate expires. Does not check whether it is trusted, since an expired one
 * has an end too. Sends nothing.
 */
function readCertificateEnd(
  { host, port, serverName }: { host: string; port: number; serverName: string | undefined },
  timeoutMs: number,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      ...(serverName !== undefined && { servername: serverName }),
    });
    const finish = (endMs: number | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(endMs);
    };
    const timer = setTimeout(() => finish(undefined), timeoutMs);
    socket.on('secureConnect', () => {
      const { valid_to: end } = socket.getPeerCertificate();
      finish(end === undefined ? undefined : Date.parse(end));
    });
    socket.on('error', () => finish(undefined));
  });
}
