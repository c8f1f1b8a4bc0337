/** Where requests go. */
export interface Origin {
  readonly protocol: 'http:' | 'https:';
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

export function parseOrigin(url: URL): Origin {
  const isTls = url.protocol === 'https:';
  return {
    protocol: isTls ? 'https:' : 'http:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
  };
}
