import { isLocalAddress } from '../guards/is-local-address.ts';
import {
  type ClientAddressSource,
  hasEntries,
  readClaimedAddress,
  readClientAddress,
} from '../guards/read-client-address.ts';
import type { KeyOrigin } from '../protocol/admission.ts';

export function readKeyOrigin(source: ClientAddressSource): KeyOrigin {
  const { peerAddress, forwardedFor, trustedProxies } = source;
  const peer = readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
  const address = readClientAddress(source);
  const isLocal = isLocalAddress(address);
  const claimed = readClaimedAddress(forwardedFor, trustedProxies);
  const isUseful = claimed !== undefined && (isLocal || !isLocalAddress(claimed));
  return {
    ...{ address, isLocal },
    claimed: isUseful ? claimed : undefined,
    cameDirectly: !hasEntries(forwardedFor, trustedProxies) && !isLocalAddress(peer),
  };
}
