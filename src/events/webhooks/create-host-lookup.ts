import { promises as dns } from 'node:dns';
import type { Address, Resolve } from './find-addresses.ts';

/**
 * Two lookups that nobody answers hold up all others of the process, such as those of Redis: libuv
 * runs them on no more than half of its four threads.
 */
const LOOKUPS_AT_ONCE_MAX = 1;

/** Looks up hosts as the system does, with its file of hosts. */
export function createHostLookup(): Resolve {
  const running = new Map<string, Promise<readonly Address[]>>();
  return async (host) => {
    while (running.size >= LOOKUPS_AT_ONCE_MAX && !running.has(host)) {
      await Promise.race(running.values()).catch(() => {});
    }
    const asked = running.get(host);
    if (asked !== undefined) return asked;
    const found = lookUp(host).finally(() => running.delete(host));
    running.set(host, found);
    return found;
  };
}

async function lookUp(host: string): Promise<readonly Address[]> {
  const found = await dns.lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
