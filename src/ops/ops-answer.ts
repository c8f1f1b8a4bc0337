export interface OpsAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer of any length. */
export interface OpsLines {
  readonly status: number;
  /** Each text is whole lines, with their ends, or empty. */
  readonly lines: AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}
