import { BlockList } from 'node:net';
import { UNKNOWN_ADDRESS } from './read-client-address.ts';

/**
 * Addresses of this machine, of its link and of private networks. Nobody on the internet has one.
 */
const LOCAL = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  // The network of ::1. A prefix of 64 bits would include all of IPv4.
  ['::', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv6');
}

/** Takes what `readClientAddress` returns. A client on a unix socket is local too. */
export function isLocalAddress(address: string): boolean {
  if (address === UNKNOWN_ADDRESS) return true;
  return address.includes(':')
    ? LOCAL.check(address.replace('/64', ''), 'ipv6')
    : LOCAL.check(address, 'ipv4');
}
