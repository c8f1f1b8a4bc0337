const COMMAND_PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const PORTS = [0x30, 0x39, 0x01, 0xbb];

/** Version 2 of the PROXY protocol, one character per byte: a connection of this IPv4 address. */
export function proxyHeader(address: string): string {
  const addresses = [...address.split('.').map(Number), 127, 0, 0, 1];
  const length = addresses.length + PORTS.length;
  const bytes = [COMMAND_PROXY, TCP_OVER_IPV4, 0, length, ...addresses, ...PORTS];
  return `\r\n\r\n\0\r\nQUIT\n${String.fromCharCode(...bytes)}`;
}
