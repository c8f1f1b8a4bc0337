export interface OpsAnswer {
  readonly status: number;
  /**
   * A string is sent as it is, and its content type is among the headers. An object is sent as
   * JSON.
   */
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}
