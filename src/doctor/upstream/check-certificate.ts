import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Clock } from '../../lib/clock.ts';
import type { Origin } from '../../upstream/http1/origin.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';

const DAY_MS = 86_400_000;
const DAYS_WARN = 14;

export async function checkCertificate(
  { protocol, host, port }: Origin,
  connectTimeoutMs: number,
  clock: Clock,
): Promise<Finding> {
  if (protocol === 'http:') return skipCheck('without TLS');
  const endMs = await readCertificateEnd({ host, port }, connectTimeoutMs);
  return endMs === undefined
    ? skipCheck('there is none to look at: TLS does not stand')
    : judgeCertificate(endMs, clock.nowMs());
}

export function judgeCertificate(endMs: number, nowMs: number): Finding {
  const day = new Date(endMs).toISOString().slice(0, 10);
  const daysLeft = Math.floor((endMs - nowMs) / DAY_MS);
  if (endMs <= nowMs) {
    return failCheck(`it ran out on ${day}`, 'Have the upstream renew its certificate.');
  }
  const found = `good until ${day}`;
  return daysLeft < DAYS_WARN
    ? warnCheck(
        `${found}, ${daysLeft} more days`,
        'Have the upstream renew its certificate before that day.',
      )
    : passCheck(found);
}

/** Whether it is trusted is not asked here: one that ran out has an end too. Nothing is sent. */
function readCertificateEnd(
  { host, port }: Pick<Origin, 'host' | 'port'>,
  timeoutMs: number,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
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
