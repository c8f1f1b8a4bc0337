/** The learned ratio is used from this many counted tokens on. */
const TOKENS_MIN = 1_000;
/** At this many tokens, all earlier counts are halved, so newer answers weigh more. */
const TOKENS_MAX = 1_000_000;
/**
 * The learned ratio stays within this factor of the assumed one: strange answers of one client must
 * not make those of others much cheaper or dearer.
 */
const FACTOR_MAX = 2;
/**
 * A token counts with at most this many bytes. In a long run of one character a token has up to a
 * hundred, so a few such answers would teach that all tokens are long.
 */
const TAUGHT_BYTES_MAX = 8;
/** Models come and go with the versions of the catalogue. At this many, all are learned again. */
const MODELS_MAX = 4_096;

/** How long the tokens of a model are, as far as its answers have shown. */
export interface TokenRatio {
  readonly bytesPerToken: number;
  /**
   * Notes a complete answer without thoughts: the bytes of its content and the tokens that its
   * upstream counted.
   */
  note(bytes: number, tokens: number): void;
}

/**
 * For estimates of answers that nobody counts to their end. Each worker learns one ratio for each
 * model.
 */
export function createTokenRatios(bytesPerToken: number): (model: string) => TokenRatio {
  const byModel = new Map<string, TokenRatio>();
  return (model) => {
    let ratio = byModel.get(model);
    if (ratio === undefined) {
      if (byModel.size >= MODELS_MAX) byModel.clear();
      ratio = new LearnedRatio(bytesPerToken);
      byModel.set(model, ratio);
    }
    return ratio;
  };
}

class LearnedRatio implements TokenRatio {
  bytesPerToken: number;
  readonly #least: number;
  readonly #most: number;
  #bytes = 0;
  #tokens = 0;

  constructor(assumed: number) {
    this.bytesPerToken = assumed;
    this.#least = assumed / FACTOR_MAX;
    this.#most = assumed * FACTOR_MAX;
  }

  note(bytes: number, tokens: number): void {
    this.#bytes += Math.min(bytes, TAUGHT_BYTES_MAX * tokens);
    this.#tokens += tokens;
    if (this.#tokens < TOKENS_MIN) return;
    this.bytesPerToken = Math.min(Math.max(this.#bytes / this.#tokens, this.#least), this.#most);
    if (this.#tokens < TOKENS_MAX) return;
    this.#bytes /= 2;
    this.#tokens /= 2;
  }
}
