import { describe, expect, it } from 'vitest';
import {
  type Address,
  findAddresses,
  type Network,
} from '../../../../src/events/webhooks/find-addresses.ts';

const find = (url: string, answers: readonly string[] = [], networks: readonly Network[] = []) =>
  findAddresses(new URL(url), networks, async () =>
    answers.map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
const network = (address: string, bits: number): Network => ({
  ...{ address, bits, family: address.includes(':') ? 6 : 4 },
});

describe('the addresses of a webhook', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'fd00::1',
    'fe80::1',
    'ff02::1',
  ])('are not %s, written so or found by a name', async (address) => {
    const host = address.includes(':') ? `[${address}]` : address;
    await expect(find(`https://${host}/`)).rejects.toThrow('is not public');
    await expect(find('https://hooks.test/', [address])).rejects.toThrow('is not public');
  });

  it.each(['http://2130706433/', 'http://0x7f.1/', 'http://017700000001/'])(
    'are not those of this machine in the writing of %s',
    async (url) => {
      await expect(find(url)).rejects.toThrow('127.0.0.1 is not public');
    },
  );

  it('are all of a name that has only public ones', async () => {
    const found = await find('https://hooks.test/', ['203.0.112.1', '2606:4700::1']);
    expect(found.map(({ address }) => address)).toEqual(['203.0.112.1', '2606:4700::1']);
  });

  it('are none if one of several is not allowed, or if there is none', async () => {
    await expect(find('https://hooks.test/', ['8.8.8.8', '10.0.0.1'])).rejects.toThrow('10.0.0.1');
    await expect(find('https://hooks.test/', [])).rejects.toThrow('has no address');
  });

  it('may be those of networks that are named', async () => {
    const named = [network('10.20.0.0', 16), network('fd00:1::', 32)];
    await expect(find('http://10.20.3.4/', [], named)).resolves.toHaveLength(1);
    await expect(find('http://[fd00:1::9]/', [], named)).resolves.toHaveLength(1);
    await expect(find('http://10.21.0.1/', [], named)).rejects.toThrow('private_networks');
  });
});
