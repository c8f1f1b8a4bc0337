/** Where requests go to. */
export interface Origin {
  readonly protocol: 'http:' | 'https:';
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}
