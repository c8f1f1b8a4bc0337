import type { KeyOrigin } from '../lib/key-origin.ts';
import { isLocalAddress } from './is-local-address.ts';
import {
  type ClientAddressSource,
  countEntries,
  readClaimedAddress,
  readClientAddress,
} from './read-client-address.ts';

export function readKeyOrigin(source: ClientAddressSource): KeyOrigin {
  const { peerAddress, forwardedFor, trustedProxies } = source;
  const peer = readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
  const entries = forwardedFor === undefined ? 0 : countEntries(forwardedFor);
  return {
    address: readClientAddress(source),
    claimed: readClaimedAddress(forwardedFor, trustedProxies),
    cameDirectly: entries < trustedProxies && !isLocalAddress(peer),
  };
}
