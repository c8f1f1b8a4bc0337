import { isIPv4, isIPv6 } from 'node:net';

/** An IPv6 address with a zone, brackets and a port fits. A longer text is not an address. */
const ADDRESS_CHARS_MAX = 64;
/** Stands for a client without an address, or with a text that is not an address. */
export const UNKNOWN_ADDRESS = 'unknown';
const IPV6_GROUPS = 8;

export interface ClientAddressSource {
  /** The address of the connection; empty for a unix socket. */
  readonly peerAddress: string;
  /** All lines of x-forwarded-for, joined by commas: a proxy may add a line of its own. */
  readonly forwardedFor: string | undefined;
  /** How many proxies in front add an entry. */
  readonly trustedProxies: number;
}

/**
 * The address under which a client is counted. Each proxy adds the address that called it at the
 * right end, and only the entries of trusted proxies can be trusted. An IPv6 client owns a whole
 * /64 and is counted by that network.
 */
export function readClientAddress(source: ClientAddressSource): string {
  const { peerAddress, forwardedFor, trustedProxies } = source;
  const forwarded =
    trustedProxies > 0 && forwardedFor !== undefined
      ? normaliseAddress(findEntry(forwardedFor, trustedProxies))
      : undefined;
  return forwarded ?? normaliseAddress(peerAddress) ?? UNKNOWN_ADDRESS;
}

/**
 * An address that no trusted proxy has written: the entry before those of the trusted proxies, if
 * it is an address.
 */
export function readClaimedAddress(
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | undefined {
  if (forwardedFor === undefined || !hasEntries(forwardedFor, trustedProxies + 1)) return undefined;
  return normaliseAddress(findEntry(forwardedFor, trustedProxies + 1));
}

/** Whether there are at least this many entries. */
export function hasEntries(forwardedFor: string | undefined, count: number): boolean {
  if (forwardedFor === undefined) return count === 0;
  let at = -1;
  for (let passed = 1; passed < count; passed += 1) {
    at = forwardedFor.indexOf(',', at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** The entry at that place from the right, counted from 1; if there are fewer, the leftmost. */
function findEntry(forwardedFor: string, place: number): string {
  let end = forwardedFor.length;
  for (let passed = 1; ; passed += 1) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
    if (passed === place || comma === -1) return forwardedFor.slice(comma + 1, end);
    end = comma;
  }
}

function normaliseAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > ADDRESS_CHARS_MAX) return undefined;
  const address = stripPort(trimmed);
  if (isIPv4(address)) return address;
  return isIPv6(address) ? normaliseIpv6(address) : undefined;
}

function stripPort(text: string): string {
  const match = /^\[([^\]]*)\](?::\d*)?$|^([\d.]+):\d*$/.exec(text);
  return match?.[1] ?? match?.[2] ?? text;
}

function normaliseIpv6(address: string): string {
  const groups = readGroups(address);
  const isMappedIpv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMappedIpv4) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight numbers of an address that is known to be valid. */
function readGroups(address: string): number[] {
  const [withoutZone = ''] = address.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const left = readHalf(head);
  if (tail === undefined) return left;
  const right = readHalf(tail);
  return [...left, ...Array(IPV6_GROUPS - left.length - right.length).fill(0), ...right];
}

function readHalf(half: string): number[] {
  if (half === '') return [];
  return half.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
