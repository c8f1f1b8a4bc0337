/** So many tokens have to be counted before their length is believed. */
const TOKENS_MIN = 1_000;
/** From here on what was counted before counts half. */
const TOKENS_MAX = 1_000_000;
/** However strange the answers are: nobody makes the answers of others much cheaper, or dearer. */
const FACTOR_MAX = 2;

/** How long the tokens of a model are, as far as its answers have shown. */
export interface TokenRatio {
  readonly bytesPerToken: number;
  /** A complete answer without thoughts: its text, and how many tokens its upstream counted. */
  note(bytes: number, tokens: number): void;
}

/** For estimates of answers that nobody counts to their end: of each model, as this worker has seen it. */
export function createTokenRatios(bytesPerToken: number): (model: string) => TokenRatio {
  const byModel = new Map<string, TokenRatio>();
  return (model) => {
    let ratio = byModel.get(model);
    if (ratio === undefined) {
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
    this.#bytes += bytes;
    this.#tokens += tokens;
    if (this.#tokens < TOKENS_MIN) return;
    this.bytesPerToken = Math.min(Math.max(this.#bytes / this.#tokens, this.#least), this.#most);
    if (this.#tokens < TOKENS_MAX) return;
    this.#bytes /= 2;
    this.#tokens /= 2;
  }
}
