/** What a refusal is called in each of the two formats. */
interface RefusalKind {
  readonly status: number;
  readonly nativeType: string;
  readonly chatType: string;
  readonly chatCode: string | null;
}

/** Every way in which a request can be refused. Names are never reused: clients and dashboards match on them. */
export const REFUSALS = {
  unknown_path: {
    status: 404,
    nativeType: 'not_found_error',
    chatType: 'invalid_request_error',
    chatCode: 'unknown_url',
  },
  method_not_allowed: {
    status: 405,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'method_not_supported',
  },
  body_too_slow: {
    status: 408,
    nativeType: 'timeout_error',
    chatType: 'server_error',
    chatCode: 'timeout',
  },
  body_too_large: {
    status: 413,
    nativeType: 'request_too_large',
    chatType: 'invalid_request_error',
    chatCode: 'request_too_large',
  },
  fault: {
    status: 500,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: null,
  },
  out_of_memory_budget: {
    status: 503,
    nativeType: 'overloaded_error',
    chatType: 'server_error',
    chatCode: 'service_unavailable',
  },
  answer_too_slow: {
    status: 504,
    nativeType: 'timeout_error',
    chatType: 'server_error',
    chatCode: 'timeout',
  },
} as const satisfies Record<string, RefusalKind>;

export type RefusalName = keyof typeof REFUSALS;

/** An expected no to the client, in contrast to a fault of ours. */
export class Refusal extends Error {
  readonly refusal: RefusalName;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    refusal: RefusalName,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.refusal = refusal;
    this.headers = headers;
  }

  get status(): number {
    return REFUSALS[this.refusal].status;
  }
}
