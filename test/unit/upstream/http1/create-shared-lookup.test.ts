import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSharedLookup } from '../../../../src/upstream/http1/create-shared-lookup.ts';
import {
  holdLookups,
  IPV4_LOOPBACK,
  IPV6_LOOPBACK,
} from '../../../support/upstreams/hold-lookups.ts';

/** As long as the system waits for name servers that are silent. */
const GIVE_UP_MS = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function createStage() {
  const system = holdLookups();
  const lookup = createSharedLookup();
  return {
    ...system,
    /** Looks up each host for a socket, and returns what these sockets are told. */
    open(...hosts: string[]) {
      const told: unknown[] = [];
      for (const host of hosts) {
        lookup(host, { all: true }, (error, addresses) => told.push(error ?? addresses));
      }
      return told;
    },
    openWithout(host: string) {
      const told: unknown[] = [];
      lookup(host, {}, (...answer) => told.push(answer));
      return told;
    },
    async giveUpLate(...hosts: string[]) {
      await pass(GIVE_UP_MS);
      for (const host of hosts) system.giveUp(host);
      await pass(0);
    },
  };
}

describe('the look-up of a host', () => {
  it('is one for all sockets that want the host at the same time', async () => {
    const stage = createStage();
    const [told, toldOne] = [stage.open('a.test', 'a.test'), stage.openWithout('a.test')];
    expect(stage.asked).toEqual(['a.test']);
    stage.answer('a.test', [IPV6_LOOPBACK, IPV4_LOOPBACK]);
    await pass(0);
    expect(told).toEqual(new Array(2).fill([IPV6_LOOPBACK, IPV4_LOOPBACK]));
    expect(toldOne).toEqual([[null, '::1', 6]]);
  });

  it('is done anew for the next socket, whatever the last was told', async () => {
    const stage = createStage();
    const failed = stage.open('a.test', 'a.test');
    await stage.giveUpLate('a.test');
    const unavailable = expect.objectContaining({ code: 'EAI_AGAIN' });
    expect(failed).toEqual([unavailable, unavailable]);
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const told = stage.open('a.test');
      stage.answer('a.test', [{ address, family: 4 }]);
      await pass(0);
      expect(told).toEqual([[{ address, family: 4 }]]);
    }
    expect(stage.asked).toEqual(['a.test', 'a.test', 'a.test']);
  });

  it('does not wait for that of a host whose name server is silent', async () => {
    const stage = createStage();
    stage.open('silent.test', 'silent.test', 'silent.test');
    for (const host of ['b.test', 'c.test', 'b.test']) {
      const told = stage.open(host);
      stage.answer(host);
      await pass(0);
      expect(told).toEqual([[IPV4_LOOPBACK]]);
    }
  });

  it('waits for one of two that fell silent, and from then on for neither', async () => {
    const stage = createStage();
    stage.open('silent-1.test', 'silent-2.test');
    const told = stage.open('b.test');
    await stage.giveUpLate('silent-1.test');
    stage.answer('b.test');
    await stage.giveUpLate('silent-2.test');
    expect(told).toEqual([[IPV4_LOOPBACK]]);
    for (let n = 0; n < 3; n += 1) {
      stage.open('silent-1.test', 'silent-2.test', 'silent-1.test');
      const toldNext = stage.open('b.test');
      stage.answer('b.test');
      await pass(0);
      expect(toldNext).toEqual([[IPV4_LOOPBACK]]);
      await stage.giveUpLate('silent-1.test');
      await stage.giveUpLate('silent-2.test');
    }
  });

  it('of a slow host waits for one that has become slow', async () => {
    const stage = createStage();
    stage.open('silent-1.test');
    await stage.giveUpLate('silent-1.test');
    stage.open('silent-2.test');
    await pass(GIVE_UP_MS);
    stage.open('silent-1.test');
    expect(stage.asked).toEqual(['silent-1.test', 'silent-2.test']);
    await stage.giveUpLate('silent-2.test');
    expect(stage.asked).toEqual(['silent-1.test', 'silent-2.test', 'silent-1.test']);
  });

  it('of a host that was slow is like any other as soon as it is quick again', async () => {
    const stage = createStage();
    stage.open('silent-1.test', 'silent-2.test');
    await stage.giveUpLate('silent-1.test', 'silent-2.test');
    const told = stage.open('silent-1.test', 'silent-2.test');
    stage.answer('silent-1.test');
    await pass(0);
    stage.answer('silent-2.test');
    await pass(0);
    expect(told).toEqual([[IPV4_LOOPBACK], [IPV4_LOOPBACK]]);
    const before = stage.asked.length;
    stage.open('silent-1.test', 'silent-2.test');
    expect(stage.asked.slice(before)).toEqual(['silent-1.test', 'silent-2.test']);
  });
});
