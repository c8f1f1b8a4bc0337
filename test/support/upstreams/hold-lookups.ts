import { promises as dns, type LookupAddress } from 'node:dns';
import { onTestFinished, vi } from 'vitest';

export const IPV4_LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };
export const IPV6_LOOPBACK: LookupAddress = { address: '::1', family: 6 };

interface HeldLookups {
  /** The host of each question that the system was asked, in order. */
  readonly asked: readonly string[];
  answer(host: string, addresses?: readonly LookupAddress[]): void;
  /** As after a silence of all name servers. */
  giveUp(host: string): void;
}

/** Until the end of the test, each question for a host waits until the test answers it. */
export function holdLookups(): HeldLookups {
  const asked: string[] = [];
  const held = new Map<string, (found: Promise<LookupAddress[]>) => void>();
  const hold = (host: string) => {
    asked.push(host);
    return new Promise<LookupAddress[]>((resolve) => {
      held.set(host, resolve);
    });
  };
  const end = (host: string, found: Promise<LookupAddress[]>) => {
    const resolve = held.get(host);
    if (resolve === undefined) throw new Error(`nobody asks for ${host}`);
    held.delete(host);
    resolve(found);
  };
  const giveUp = (host: string) => {
    const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}`), { code: 'EAI_AGAIN' });
    end(host, Promise.reject(error));
  };
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(hold as unknown as typeof dns.lookup);
  onTestFinished(() => {
    spy.mockRestore();
    for (const host of held.keys()) giveUp(host);
  });
  return {
    asked,
    answer: (host, addresses = [IPV4_LOOPBACK]) => end(host, Promise.resolve([...addresses])),
    giveUp,
  };
}
