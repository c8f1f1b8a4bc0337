import type { InferenceCall, InferenceRequest, RequestOutline } from './inference.ts';

/**
 * What not every upstream takes: PDFs, how much effort a model is to make, and what it thought before, which it gets
 * back as `reasoning_content`.
 */
export type OptionalFeature = 'pdf' | 'effort' | 'reasoning_content';

/** What the body for an upstream is made of. */
export type UpstreamCall = Pick<InferenceCall, 'outputTokensMax' | 'source'> & {
  readonly request: InferenceRequest;
  /** Fields that nobody here knows are left out. */
  readonly dropsUnknown?: boolean;
  /** How the upstream is to answer, whatever the client asked for. */
  readonly isStream: boolean;
  /** Absent: nothing but what all take. */
  readonly accepts?: ReadonlySet<OptionalFeature>;
};

/** The same for whoever sends texts on as they came, whether they were read or not. */
export type UpstreamCallOutline = Omit<UpstreamCall, 'request'> & {
  readonly request: RequestOutline;
};
