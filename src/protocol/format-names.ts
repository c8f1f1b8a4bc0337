/** The formats of requests: each is a folder here, a `Format`, and the kind of the upstreams that read it. */
export const FORMAT_NAMES = ['native', 'chat'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** A simulated upstream answers from the worker itself. */
export const UPSTREAM_KINDS = [...FORMAT_NAMES, 'simulated'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];
