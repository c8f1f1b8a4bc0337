import type { InferenceCall, InferenceRequest, RequestOutline } from './inference.ts';

/**
 * Features that not every upstream takes: PDFs, the effort that a model is to make, and earlier
 * thinking, which the model gets back as `reasoning_content`.
 */
export type OptionalFeature = 'pdf' | 'effort' | 'reasoning_content';

/** What the body for an upstream is made from. */
export type UpstreamCall = Pick<InferenceCall, 'outputTokensMax' | 'source'> & {
  readonly request: InferenceRequest;
  /** Whether unknown fields are left out. */
  readonly dropsUnknown?: boolean;
  /** Whether the upstream is to stream, whatever the client asked for. */
  readonly isStream: boolean;
  /** If absent, the upstream takes no optional feature. */
  readonly accepts?: ReadonlySet<OptionalFeature>;
};

/** For code that sends texts on as they came, whether or not they were read. */
export type UpstreamCallOutline = Omit<UpstreamCall, 'request'> & {
  readonly request: RequestOutline;
};
