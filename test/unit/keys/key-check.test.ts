import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { mintApiKey, mintKeyId } from '../../../src/keys/api-key.ts';
import { digestKey } from '../../../src/keys/digest-key.ts';
import { createKeyCheck } from '../../../src/keys/key-check.ts';
import type { Caller } from '../../../src/protocol/admission.ts';

function setUp(trustedProxies = 0) {
  let nowMs = 1_700_000_000_000;
  const guards = {
    trustedProxies,
    failedKeysPerMinuteMax: 3,
    freeCallsPerMinuteMax: 10,
    insurancePerMinuteMax: undefined,
  };
  const doubts: string[] = [];
  const clock = { nowMs: () => nowMs };
  const keyCheck = createKeyCheck(guards, (doubt) => doubts.push(doubt), clock);
  const check = (key: string, peerAddress = '192.0.2.1', forwardedFor?: string) => {
    const headers = new Map([
      ['x-api-key', key],
      ['x-forwarded-for', forwardedFor],
    ]);
    const caller: Caller = { peerAddress, header: (name) => headers.get(name) };
    return keyCheck.check(caller);
  };
  const statusOf = async (...args: Parameters<typeof check>) => {
    // Earlier counts are known by now.
    await nextTurn();
    try {
      check(...args);
      return 200;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };
  const statusesOf = async (each: readonly Parameters<typeof check>[]) => {
    const statuses: number[] = [];
    for (const args of each) statuses.push(await statusOf(...args));
    return statuses;
  };
  return { keyCheck, check, statusOf, statusesOf, doubts, pass: (ms: number) => (nowMs += ms) };
}

const KNOWN = { kind: 'known', accountId: 'acc_1' } as const;

function mintKey(): { keyId: string; key: string } {
  const keyId = mintKeyId(5, randomBytes);
  return { keyId, key: mintApiKey(keyId, randomBytes) };
}

describe('the check of a key without the store', () => {
  it('tells id, bucket and digest, and shows no more of it than its end', () => {
    const { keyId, key } = mintKey();
    expect(setUp().check(key)).toEqual({
      keyId,
      bucket: 5,
      digest: digestKey(key),
      masked: `sk-gw2-…${key.slice(-4)}`,
      origin: { address: '192.0.2.1', isLocal: false, claimed: undefined, cameDirectly: false },
      isProven: false,
      accountId: undefined,
    });
  });

  it('lets nobody in by itself: a good key is asked for again', () => {
    const { keyCheck, check } = setUp();
    const { key } = mintKey();
    keyCheck.noteReply(check(key), { kind: 'admitted' });
    const { digest, isProven } = check(key);
    expect({ digest, isProven }).toEqual({ digest: digestKey(key), isProven: true });
  });

  it('slows down whoever tries keys that cannot exist, but no other address', async () => {
    const { statusOf, statusesOf } = setUp();
    const { key } = mintKey();
    const wrong = `${key.slice(0, -1)}_`;
    expect(await statusesOf([[wrong], [wrong], [wrong], [wrong]])).toEqual([401, 401, 401, 429]);
    expect(await statusOf(wrong, '192.0.2.2')).toBe(401);
  });

  it('counts keys that the store does not know', async () => {
    const { keyCheck, check, statusOf } = setUp();
    for (let i = 0; i < 3; i++) keyCheck.noteReply(check(mintKey().key), { kind: 'unknown' });
    expect(await statusOf(mintKey().key)).toBe(429);
  });

  it('lets a good key pass at an address from which others guess', async () => {
    const { keyCheck, check, statusOf } = setUp();
    const { key } = mintKey();
    keyCheck.noteReply(check(key), { kind: 'admitted' });
    for (let i = 0; i < 5; i++) await statusOf('sk-gw2-wrong');
    expect(await statusOf('sk-gw2-wrong')).toBe(429);
    expect(await statusOf(key)).toBe(200);
  });

  it('spares the store a key that it did not know a moment ago', async () => {
    const { keyCheck, check, statusOf, pass } = setUp();
    const { key } = mintKey();
    keyCheck.noteReply(check(key), { kind: 'unknown' });
    expect(await statusOf(key)).toBe(401);
    pass(5_001);
    expect(await statusOf(key)).toBe(200);
  });

  it('asks again for a key whose secret was good before it was replaced', async () => {
    const { keyCheck, check, statusOf } = setUp();
    const { key } = mintKey();
    keyCheck.noteReply(check(key), { kind: 'admitted' });
    keyCheck.noteReply(check(key), { kind: 'unknown' });
    expect(await statusOf(key)).toBe(401);
  });

  it.each(['unknown', 'revoked', 'expired', 'suspended'] as const)(
    'makes its client a stranger when the store says that it is %s',
    (kind) => {
      const { keyCheck, check, pass } = setUp();
      const { key } = mintKey();
      keyCheck.noteReply(check(key), { kind });
      pass(5_001);
      expect(check(key).isProven).toBe(false);
      keyCheck.noteReply(check(key), { kind: 'admitted' });
      expect(check(key).isProven).toBe(true);
      keyCheck.noteReply(check(key), { kind });
      pass(5_001);
      expect(check(key).isProven).toBe(false);
    },
  );

  it('does not count the key of a suspended account as a guess', async () => {
    const { keyCheck, check, statusOf } = setUp();
    const { key } = mintKey();
    for (let i = 0; i < 5; i++) keyCheck.noteReply(check(key), { kind: 'suspended' });
    expect(await statusOf(key)).toBe(200);
  });

  it('knows the client of a good key, whatever else its request was refused for', () => {
    for (const kind of ['known', 'balance', 'rate', 'model'] as const) {
      const { keyCheck, check } = setUp();
      const { key } = mintKey();
      keyCheck.noteReply(check(key), { kind });
      expect(check(key).isProven).toBe(true);
    }
  });

  it('knows whose key it is once the store has said so, until it is not good any more', () => {
    const { keyCheck, check, pass } = setUp();
    const { key } = mintKey();
    const owners = (
      [{ kind: 'rate' }, KNOWN, { kind: 'rate' }, { kind: 'suspended' }] as const
    ).map((reply) => {
      keyCheck.noteReply(check(key), reply);
      return check(key).accountId;
    });
    expect(owners).toEqual([undefined, 'acc_1', 'acc_1', undefined]);
    keyCheck.noteReply(check(key), KNOWN);
    pass(300_001);
    expect(check(key).accountId).toBeUndefined();
  });

  it('refuses a revoked key by itself, and tells only its owner why', () => {
    const { keyCheck, check } = setUp();
    const { keyId, key } = mintKey();
    keyCheck.noteReply(check(key), { kind: 'admitted' });
    keyCheck.noteRevoked(keyId);
    expect(() => check(key)).toThrow('has been revoked');
    expect(() => check(mintApiKey(keyId, randomBytes))).toThrow('invalid x-api-key');
  });

  it('counts clients behind a proxy by the address that the proxy saw', async () => {
    const { statusOf, statusesOf } = setUp(1);
    const wrong = (forwardedFor: string): Parameters<typeof statusOf> => [
      'sk-gw2-wrong',
      '10.0.0.1',
      forwardedFor,
    ];
    // The addresses further left, which the client itself wrote, change nothing.
    const tries = ['1.1.1.1, 203.0.113.5', '2.2.2.2, 203.0.113.5', '203.0.113.5', '203.0.113.5'];
    expect(await statusesOf(tries.map(wrong))).toEqual([401, 401, 401, 429]);
    expect(await statusOf(...wrong('203.0.113.6'))).toBe(401);
  });

  it('takes no header for an address where no proxy is trusted', async () => {
    const { statusesOf } = setUp();
    const tries = ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'];
    expect(
      await statusesOf(tries.map((address) => ['sk-gw2-wrong', '192.0.2.1', address])),
    ).toEqual([401, 401, 401, 429]);
  });

  it('lets a new key pass behind a proxy that nobody told it of, whoever guesses there', async () => {
    const { keyCheck, check, statusOf } = setUp();
    for (let i = 0; i < 5; i++) {
      const { key } = mintKey();
      if ((await statusOf(key, '10.0.0.1', '203.0.113.5')) === 200) {
        keyCheck.noteReply(check(key, '10.0.0.1', '203.0.113.5'), { kind: 'unknown' });
      }
    }
    expect(await statusOf(mintKey().key, '10.0.0.1', '203.0.113.5')).toBe(429);
    expect(await statusOf(mintKey().key, '10.0.0.1', '203.0.113.6')).toBe(200);
  });
});

describe('doubts about the number of trusted proxies', () => {
  const doubtsOf = (trustedProxies: number, asked: readonly (readonly [string, string?])[]) => {
    const { keyCheck, check, doubts } = setUp(trustedProxies);
    for (const [peer, forwardedFor] of asked) {
      keyCheck.noteReply(check(mintKey().key, peer, forwardedFor), { kind: 'admitted' });
    }
    return doubts;
  };

  it.each([
    ['a proxy of a private network', 0, [['10.0.0.1', '203.0.113.5']]],
    ['a second one', 1, [['198.51.100.1', '203.0.113.5, 10.0.0.9']]],
    ['one on the machine', 0, [['::1', '203.0.113.5']]],
    [
      'a public one with many clients',
      0,
      [5, 6, 7].map((i) => ['198.51.100.1', `203.0.113.${i}`] as const),
    ],
  ] as const)('are raised by %s that is not counted', (_, trusted, asked) => {
    expect(doubtsOf(trusted, asked)).toEqual(['too_low']);
  });

  it('are raised by a client that came past the proxies', () => {
    expect(doubtsOf(1, [['198.51.100.1']])).toEqual(['too_high']);
    expect(doubtsOf(2, [['198.51.100.1', '203.0.113.5']])).toEqual(['too_high']);
  });

  it('are not raised where all is well', () => {
    expect(doubtsOf(0, [['198.51.100.1'], ['10.0.0.1']])).toEqual([]);
    expect(doubtsOf(1, [['10.0.0.1', '203.0.113.5'], ['127.0.0.1']])).toEqual([]);
    // The client's own proxy reveals the network behind it.
    const office = [4, 5, 6, 7].map((i) => ['198.51.100.1', `192.168.0.${i}`] as const);
    expect(doubtsOf(0, office)).toEqual([]);
  });

  it('are not raised by strangers', () => {
    const { keyCheck, check, doubts } = setUp();
    keyCheck.noteReply(check(mintKey().key, '10.0.0.1', '203.0.113.5'), { kind: 'unknown' });
    expect(doubts).toEqual([]);
  });
});
