import type { InferenceCall, InferenceRequest, RequestOutline } from './inference.ts';
import type { Opener } from './sealed-reasoning.ts';

/**
 * Features that not every upstream takes: PDFs, the effort that a model is to make, earlier
 * thinking, which the model gets back as `reasoning_content`, or encrypted, or which the signature
 * of a call stands for, system messages in the middle of a conversation, that a model is not to
 * think, and a key that helps the vendor's cache.
 */
export const OPTIONAL_FEATURES = [
  'pdf',
  'effort',
  'reasoning_content',
  'encrypted_reasoning',
  'thought_signature',
  'system_messages',
  'no_thinking',
  'prompt_cache_key',
] as const;
export type OptionalFeature = (typeof OPTIONAL_FEATURES)[number];

/** How an upstream gets its thoughts back. */
export interface UpstreamOpener {
  /** The name of the upstream that is asked. */
  readonly upstream: string;
  readonly open: Opener;
}

/** What the body for an upstream is made from. */
export type UpstreamCall = Pick<InferenceCall, 'outputTokensMax' | 'source'> & {
  readonly request: InferenceRequest;
  /** Whether unknown fields are left out. */
  readonly dropsUnknown?: boolean;
  /** Whether the upstream is to stream, whatever the client asked for. */
  readonly isStream: boolean;
  /** If absent, the upstream takes no optional feature. */
  readonly accepts?: ReadonlySet<OptionalFeature>;
  /** Whether temperature, top_p and top_k are left out, because the model takes no other. */
  readonly dropsSampling?: boolean;
  /** If absent, thoughts that were sealed are left out. */
  readonly reasoning?: UpstreamOpener | undefined;
};

/** For code that sends texts on as they came, whether or not they were read. */
export type UpstreamCallOutline = Omit<UpstreamCall, 'request'> & {
  readonly request: RequestOutline;
};
