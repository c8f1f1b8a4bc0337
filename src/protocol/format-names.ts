/** The request formats. Each has a folder here and a `Format`, and is a kind of upstream. */
export const FORMAT_NAMES = ['native', 'chat', 'responses'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** Where each is served. */
export const FORMAT_PATHS = {
  native: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
} as const satisfies Record<FormatName, string>;

/** What requests ask for: an answer in one of the formats, or embeddings. */
export const ROUTE_NAMES = [...FORMAT_NAMES, 'embeddings'] as const;
export type RouteName = (typeof ROUTE_NAMES)[number];
export const ROUTE_PATHS = {
  ...FORMAT_PATHS,
  embeddings: '/v1/embeddings',
} as const satisfies Record<RouteName, string>;

/** A simulated upstream answers from the worker itself. */
export const UPSTREAM_KINDS = [...FORMAT_NAMES, 'simulated'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];
