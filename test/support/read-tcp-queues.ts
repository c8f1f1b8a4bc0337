import { readFileSync } from 'node:fs';

export interface TcpQueues {
  /** Sent and not yet taken by the system at the other end. */
  readonly unsentBytes: number;
  /** Come in and not yet read. */
  readonly unreadBytes: number;
}

/** What the system holds for each IPv4 socket of this machine, by `localPort-remotePort`. */
export function readTcpQueues(): ReadonlyMap<string, TcpQueues> {
  const lines = readFileSync('/proc/net/tcp', 'latin1').trimEnd().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/);
      const [unsent = '', unread = ''] = queues.split(':');
      const sides = `${readPort(local)}-${readPort(remote)}`;
      return [sides, { unsentBytes: readHex(unsent), unreadBytes: readHex(unread) }];
    }),
  );
}

function readPort(address: string): number {
  return readHex(address.split(':')[1] ?? '');
}

function readHex(digits: string): number {
  return Number.parseInt(digits, 16);
}
