import type { Endpoint } from './endpoint.ts';

const PORT_MAX = 65_535;
const HOST_CHARACTERS_MAX = 253;
/** sun_path of Linux holds 108 bytes, the last of which is zero. */
const UNIX_PATH_BYTES_MAX = 107;

/**
 * Reads `host:port`, `[ipv6]:port` or `unix:/path`. No message repeats the text, because it may
 * come from a URL with a password.
 */
export function parseEndpoint(text: string): Endpoint {
  // `unix:8080` is a port of a host with this name.
  if (text.startsWith('unix:') && !/^unix:\d+$/.test(text)) {
    return { kind: 'unix', path: parseUnixPath(text.slice('unix:'.length)) };
  }
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(text);
  if (match === null) {
    throw new Error('must be host:port, [ipv6]:port or unix:/path');
  }
  const [, bracketed, name = '', port = ''] = match;
  if (bracketed === undefined ? !isHostName(name) : !isIpv6(bracketed)) {
    throw new Error('the host must be a name, an IPv4 address or an IPv6 address in brackets');
  }
  return { kind: 'tcp', host: bracketed ?? name, port: parsePort(port) };
}

export function formatEndpoint(endpoint: Endpoint): string {
  if (endpoint.kind === 'unix') return `unix:${endpoint.path}`;
  const { host, port } = endpoint;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseUnixPath(path: string): string {
  if (!path.startsWith('/')) throw new Error('the path of a unix socket must begin with /');
  if (path.includes('\0')) throw new Error('the path of a unix socket must not hold a zero byte');
  if (new TextEncoder().encode(path).length > UNIX_PATH_BYTES_MAX) {
    throw new Error(`the path of a unix socket must have at most ${UNIX_PATH_BYTES_MAX} bytes`);
  }
  return path;
}

function parsePort(text: string): number {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > PORT_MAX) {
    throw new Error(`the port must be a whole number from 1 to ${PORT_MAX}`);
  }
  return port;
}

function isHostName(text: string): boolean {
  if (/^[\d.]+$/.test(text)) return isIpv4(text);
  // DNS host names have no underscores, but container networks use them.
  const label = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
  return text.length <= HOST_CHARACTERS_MAX && text.split('.').every((part) => label.test(part));
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const endsInIpv4 = isIpv4(groups.at(-1) ?? '') && !text.endsWith('::');
  const hexGroups = endsInIpv4 ? groups.slice(0, -1) : groups;
  if (!hexGroups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  const groupCount = hexGroups.length + (endsInIpv4 ? 2 : 0);
  return halves.length === 2 ? groupCount <= 7 : groupCount === 8;
}
