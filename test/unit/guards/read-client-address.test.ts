import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClientAddress } from '../../../src/guards/read-client-address.ts';

const PEER = '10.0.0.1';
const read = (forwardedFor: string | undefined, trustedProxies = 1, peerAddress = PEER) =>
  readClientAddress({ peerAddress, forwardedFor, trustedProxies });

describe('the address of a client', () => {
  it('is that of the connection when no proxy is trusted, whatever a client claims', () => {
    expect(read('1.2.3.4', 0)).toBe(PEER);
    expect(read(undefined, 0)).toBe(PEER);
  });

  it('is the one that the outermost of the trusted proxies saw', () => {
    const header = '6.6.6.6, 5.5.5.5,1.1.1.1 , 2.2.2.2';
    expect(read(header, 1)).toBe('2.2.2.2');
    expect(read(header, 2)).toBe('1.1.1.1');
    expect(read(header, 4)).toBe('6.6.6.6');
  });

  it('is the leftmost when there are fewer entries than proxies', () => {
    expect(read('6.6.6.6, 5.5.5.5', 3)).toBe('6.6.6.6');
    expect(read('6.6.6.6', 16)).toBe('6.6.6.6');
  });

  it('is that of the connection when there is no header, or garbage where the address belongs', () => {
    const garbage = ['', ',', ' , ', 'unknown', '_hidden', '1.2.3', '1.2.3.4.5', '999.1.1.1'];
    const worse = ['[::1', '::1]', '[1.2.3.4', '1.2.3.4:x', '01.2.3.4', ':::', 'g::1', '"1.2.3.4"'];
    for (const header of [undefined, ...garbage, ...worse, '1.2.3.4, x', 'a'.repeat(10_000)]) {
      expect(read(header), header).toBe(PEER);
    }
  });

  it('has no port and no brackets', () => {
    expect(read('1.2.3.4:5678')).toBe('1.2.3.4');
    expect(read('[1.2.3.4]:80')).toBe('1.2.3.4');
    expect(read('[2001:db8::1]:443')).toBe('2001:db8:0:0::/64');
    expect(read('[2001:db8::1]')).toBe('2001:db8:0:0::/64');
  });

  it.each([
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::1.2.3.4', '64:ff9b:0:0::/64'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
    ['::1.2.3.4', '0:0:0:0::/64'],
  ])('of %s is %s, also as that of the connection', (address, expected) => {
    expect(read(address)).toBe(expected);
    expect(read(undefined, 0, address)).toBe(expected);
  });

  it('is the same for all that a client may call itself within its network', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'));
    fc.assert(
      fc.property(
        half.filter((network) => !network.startsWith('0:')),
        half,
        half,
        (network, one, other) => {
          expect(read(`${network}:${one}`)).toBe(read(`${network}:${other}`));
          expect(read(`${network}:${one}`)).toBe(`${network}::/64`);
        },
      ),
    );
  });

  it('is unknown on a socket that has none', () => {
    expect(read(undefined, 0, '')).toBe('unknown');
    expect(read('x', 1, 'y'.repeat(1_000))).toBe('unknown');
  });

  it('is short text, whatever the header says', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ',',
        ':',
        '::',
        '[',
        ']',
        '%',
        '.',
        ' ',
        'ffff',
        '1',
        '255',
        '1.2.3.4',
        '::1',
      ),
      fc.ipV4(),
      fc.ipV6(),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    const header = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(header, header, fc.nat({ max: 16 }), (forwardedFor, peer, proxies) => {
        const address = read(forwardedFor, proxies, peer);
        expect(address).toMatch(/^(unknown|\d+(\.\d+){3}|[\da-f]{1,4}(:[\da-f]{1,4}){3}::\/64)$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
