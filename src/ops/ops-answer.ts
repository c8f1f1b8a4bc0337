export interface OpsAnswer {
  readonly status: number;
  /** A text goes out as it is, under a content type among the headers. */
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}
