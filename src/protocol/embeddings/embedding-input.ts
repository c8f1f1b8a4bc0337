export type EmbeddingForm = 'float' | 'base64';

/** What a request wants embedded. */
export interface EmbeddingInput {
  /** Each gets one embedding, in this order: texts, or lists of tokens. */
  readonly inputs: readonly (string | readonly number[])[];
  readonly encoding: EmbeddingForm;
  /** The length of each embedding; undefined for the model's own. */
  readonly dimensions: number | undefined;
  /** The bytes of all texts. */
  readonly textBytes: number;
  /** The tokens that the client has counted itself. */
  readonly tokens: number;
  /** The fewest tokens that the longest input can have. */
  readonly longestTokens: number;
  /** No tokenizer makes more tokens than this of all inputs. */
  readonly tokensMax: number;
  /** The fields to send, without `model`. */
  readonly fields: Readonly<Record<string, unknown>>;
}
