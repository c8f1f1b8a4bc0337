import { BlockList, isIP } from 'node:net';

/** A network whose addresses are allowed although they are not public. */
export interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 4 | 6;
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

/** From the registry of special-purpose addresses. */
const RESERVED_V4: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Only `2000::/3` is public, except for these ranges, which lead elsewhere. */
const RESERVED_V6: readonly (readonly [address: string, bits: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const reserved = new BlockList();
for (const [address, bits] of RESERVED_V4) reserved.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of RESERVED_V6) reserved.addSubnet(address, bits, 'ipv6');
const publicV6 = new BlockList();
publicV6.addSubnet('2000::', 3, 'ipv6');

function isPublic({ address, family }: Address): boolean {
  if (family === 4) return !reserved.check(address, 'ipv4');
  return publicV6.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
}

/** Its message says which rule forbids sending to a host. */
export class ForbiddenTargetError extends Error {}

/**
 * All addresses of the host of a URL; a connection goes to one of these and to no other. Throws if
 * one of them is not allowed.
 */
export async function findAddresses(
  { hostname }: URL,
  networks: readonly Network[],
  resolve: Resolve,
): Promise<readonly Address[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const literal = isIP(host);
  const addresses: readonly Address[] =
    literal === 0 ? await resolve(host) : [{ address: host, family: literal === 6 ? 6 : 4 }];
  const allowed = new BlockList();
  for (const { address, bits, family } of networks) {
    allowed.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4');
  }
  for (const address of addresses) {
    const isAllowed = allowed.check(address.address, address.family === 6 ? 'ipv6' : 'ipv4');
    if (isAllowed || isPublic(address)) continue;
    throw new ForbiddenTargetError(
      `${address.address} is not public, and webhooks.private_networks does not name it`,
    );
  }
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  return addresses;
}
