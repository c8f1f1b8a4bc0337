import type { EmbeddingInput } from './embedding-input.ts';

/** What unknown fields are left out of. */
interface Sent {
  readonly unknownFields: readonly string[];
  readonly dropsUnknown: boolean;
}

/** Writes the body for an upstream, which knows the model by this name. */
export function encodeEmbeddingRequest(
  { fields }: EmbeddingInput,
  vendorModel: string,
  { unknownFields, dropsUnknown }: Sent,
): string {
  const sent: Record<string, unknown> = { model: vendorModel, ...fields };
  if (dropsUnknown) for (const name of unknownFields) delete sent[name];
  return JSON.stringify(sent);
}
