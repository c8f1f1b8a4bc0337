/** The request formats. Each has a folder here and a `Format`, and is a kind of upstream. */
export const FORMAT_NAMES = ['native', 'chat'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** A simulated upstream answers from the worker itself. */
export const UPSTREAM_KINDS = [...FORMAT_NAMES, 'simulated'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];
