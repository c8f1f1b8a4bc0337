import { promises as dns, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** As many as libuv runs at a time: half of its four threads. */
const LOOKUPS_AT_ONCE_MAX = 2;
/** A look-up that takes longer has probably lost its name server. */
const QUICK_MAX_MS = 1_000;

/**
 * Creates the look-up of hosts for all sockets of a process. Two that nobody answers hold up all
 * others of the process, even those of Redis, until the system gives up on them. Therefore
 *
 * - all sockets that want a host while it is looked up wait for the same look-up;
 * - slow hosts are looked up one after the other, and quick ones do not wait for them. A host is
 *   slow if its last look-up was, or if this one already is. So each host of a name server that
 *   falls silent delays the hosts of others once at most.
 *
 * No address is kept: once a look-up has ended, the next socket begins another.
 */
export function createSharedLookup(): LookupFunction {
  const shared = new Map<string, Promise<LookupAddress[]>>();
  /** The starts of look-ups, by host. The one that waits longest comes first. */
  const waiting = new Map<string, () => void>();
  /** When each of them began. */
  const running = new Map<string, number>();
  /** No more than the settings name. */
  const slowHosts = new Set<string>();

  const isOverdue = (host: string) => {
    const startedMs = running.get(host);
    return startedMs !== undefined && performance.now() - startedMs > QUICK_MAX_MS;
  };
  const isSlow = (host: string) => slowHosts.has(host) || isOverdue(host);
  const startWaiting = () => {
    for (const [host, start] of waiting) {
      if (running.size >= LOOKUPS_AT_ONCE_MAX) return;
      if (isSlow(host) && [...running.keys()].some(isSlow)) continue;
      waiting.delete(host);
      start();
    }
  };
  const run = async (host: string, hints: number) => {
    running.set(host, performance.now());
    try {
      return await dns.lookup(host, { all: true, hints });
    } finally {
      if (isOverdue(host)) slowHosts.add(host);
      else slowHosts.delete(host);
      running.delete(host);
      shared.delete(host);
      startWaiting();
    }
  };
  const begin = (host: string, hints: number) => {
    const found = new Promise<LookupAddress[]>((resolve) => {
      waiting.set(host, () => resolve(run(host, hints)));
    });
    shared.set(host, found);
    startWaiting();
    return found;
  };

  return (host, { all, hints = 0 }, callback) => {
    const found = shared.get(host) ?? begin(host, hints);
    found.then(
      (addresses) => {
        if (all === true) callback(null, [...addresses]);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
