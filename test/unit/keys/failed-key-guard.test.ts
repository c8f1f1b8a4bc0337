import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isLocalAddress } from '../../../src/guards/is-local-address.ts';
import { createFailedKeyGuard, type FailedKeyGuard } from '../../../src/keys/failed-key-guard.ts';
import type { KeyOrigin } from '../../../src/protocol/admission.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const from = (address: string, claimed?: string): KeyOrigin => {
  return { address, isLocal: isLocalAddress(address), claimed, cameDirectly: false };
};
const A = from('192.0.2.1');
const B = from('192.0.2.2');

const createGuard = (perMinuteMax: number, trustedProxies = 0) =>
  createFailedKeyGuard({ perMinuteMax, trustedProxies, clock: { nowMs: () => Date.now() } });

/** Notes a failure, and lets everything that follows from it happen first. */
async function noteFailure(guard: FailedKeyGuard, origin: KeyOrigin): Promise<void> {
  guard.noteFailure(origin);
  await vi.advanceTimersByTimeAsync(0);
}

async function noteUnknown(guard: FailedKeyGuard, origin: KeyOrigin): Promise<void> {
  guard.noteUnknown(origin);
  await vi.advanceTimersByTimeAsync(0);
}

describe('the guard of failed keys', () => {
  it('lets an address fail so often in a minute, then tells when that minute ends', async () => {
    const guard = createGuard(3);
    await noteFailure(guard, A);
    vi.advanceTimersByTime(20_000);
    await noteUnknown(guard, A);
    expect(guard.retryAfterMs(A)).toBe(0);
    await noteFailure(guard, A);
    for (const wait of [guard.retryAfterMs, guard.askAfterMs]) expect(wait(A)).toBe(40_000);
    vi.advanceTimersByTime(39_999);
    expect(guard.retryAfterMs(A)).toBe(1);
    vi.advanceTimersByTime(1);
    expect(guard.retryAfterMs(A)).toBe(0);
  });

  it('keeps nobody waiting who does not fail, nor for the failures of others', async () => {
    const guard = createGuard(1);
    await noteFailure(guard, A);
    for (let i = 0; i < 10; i += 1) expect(guard.askAfterMs(B)).toBe(0);
    expect(guard.askAfterMs(A)).toBe(60_000);
  });

  it('does not make those wait longer who go on failing', async () => {
    const guard = createGuard(1);
    await noteFailure(guard, A);
    vi.advanceTimersByTime(59_000);
    for (let i = 0; i < 100; i += 1) await noteFailure(guard, A);
    expect(guard.retryAfterMs(A)).toBe(1_000);
  });

  it.each([
    ['that good keys come from', '192.0.2.1'],
    ['of a private network', '10.1.2.3'],
    ['of the machine itself', '0:0:0:0::/64'],
  ])('shuts out only whom it was told of, at an address %s', async (_, address) => {
    const guard = createGuard(3);
    guard.noteGood(from(address));
    const stranger = from(address, '203.0.113.5');
    for (let i = 0; i < 3; i += 1) await noteUnknown(guard, stranger);
    expect(guard.askAfterMs(stranger)).toBe(60_000);
    expect(guard.askAfterMs(from(address, '203.0.113.6'))).toBe(0);
    expect(guard.askAfterMs(from(address))).toBe(0);
    // A key that is known to be wrong costs nothing to refuse, whoever sends it.
    expect(guard.retryAfterMs(from(address))).toBe(60_000);
  });

  it('gives whoever invents claims no more than an address has that makes none', async () => {
    const count = async (claim: (i: number) => string | undefined) => {
      const guard = createGuard(3);
      guard.noteGood(A);
      for (let i = 0; ; i += 1) {
        const origin = from(A.address, claim(i));
        if (guard.askAfterMs(origin) > 0) return i;
        await noteUnknown(guard, origin);
      }
    };
    expect(await count(() => undefined)).toBe(60);
    expect(await count((i) => `203.0.113.${i}`)).toBe(60);
  });

  it('keeps nobody out at an address of good keys, where the proxies are known too', async () => {
    const guard = createGuard(3, 1);
    guard.noteGood(A);
    for (let i = 0; i < 3; i += 1) await noteUnknown(guard, A);
    expect(guard.askAfterMs(A)).toBe(0);
    expect(guard.retryAfterMs(A)).toBe(60_000);
  });

  it('holds for a local address as it is where the proxies are known', async () => {
    const guard = createGuard(3, 1);
    const local = from('10.1.2.3');
    for (let i = 0; i < 3; i += 1) await noteUnknown(guard, local);
    expect(guard.askAfterMs(local)).toBe(60_000);
  });

  it('holds for any other address as it is where the proxies are known', async () => {
    const guard = createGuard(3, 1);
    for (let i = 0; i < 3; i += 1) await noteUnknown(guard, from(A.address, `203.0.113.${i}`));
    expect(guard.askAfterMs(from(A.address, '203.0.113.9'))).toBe(60_000);
  });

  it('gives a stranger at an address of its own nothing for a claim', async () => {
    const guard = createGuard(3);
    for (let i = 0; i < 3; i += 1) await noteUnknown(guard, from(A.address, `203.0.113.${i}`));
    expect(guard.askAfterMs(from(A.address, '203.0.113.9'))).toBe(60_000);
  });
});
