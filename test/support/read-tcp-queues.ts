import { readFileSync } from 'node:fs';

export interface TcpQueues {
  /** Bytes sent that the system at the other end has not taken yet. */
  readonly unsentBytes: number;
  /** Bytes received that the process has not read yet. */
  readonly undecodedBytes: number;
}

/** The queues of every IPv4 socket of this machine, by `localPort-remotePort`. */
export function readTcpQueues(): ReadonlyMap<string, TcpQueues> {
  const lines = readFileSync('/proc/net/tcp', 'latin1').trimEnd().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/);
      const [unsent = '', unread = ''] = queues.split(':');
      const sides = `${readPort(local)}-${readPort(remote)}`;
      return [sides, { unsentBytes: readHex(unsent), undecodedBytes: readHex(unread) }];
    }),
  );
}

function readPort(address: string): number {
  return readHex(address.split(':')[1] ?? '');
}

function readHex(digits: string): number {
  return Number.parseInt(digits, 16);
}
