import type { InferenceCall } from './inference.ts';

/** What the body for an upstream is made of. */
export type UpstreamCall = Pick<InferenceCall, 'request' | 'outputTokensMax' | 'source'> & {
  /** How the upstream is to answer, whatever the client asked for. */
  readonly isStream: boolean;
};
