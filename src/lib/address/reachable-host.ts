/** An address that stands for all addresses of this machine is reached by the loopback address. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
}
