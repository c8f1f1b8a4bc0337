import type { Usage } from './answers/usage.ts';

/** How each family of formats expresses a refusal. */
interface RefusalKind {
  readonly status: number;
  readonly nativeType: string;
  readonly chatType: string;
  readonly chatCode: string | null;
  /** The status for chat clients, if they do not know `status`. */
  readonly chatStatus?: number;
}

/** Every way to refuse a request. Names are never reused: clients and dashboards match on them. */
export const REFUSALS = {
  invalid_request: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'invalid_value',
  },
  missing_field: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'missing_required_parameter',
  },
  context_too_long: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'context_length_exceeded',
  },
  too_large_for_limit: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'request_too_large',
  },
  end_user_missing: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'missing_required_parameter',
  },
  item_not_found: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: null,
  },
  previous_response_not_found: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'previous_response_not_found',
  },
  unknown_thought: {
    status: 400,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'invalid_encrypted_content',
  },
  unauthenticated: {
    status: 401,
    nativeType: 'authentication_error',
    chatType: 'invalid_request_error',
    chatCode: 'invalid_api_key',
  },
  balance_too_low: {
    status: 402,
    nativeType: 'billing_error',
    chatType: 'insufficient_quota',
    chatCode: 'insufficient_quota',
  },
  cap_reached: {
    status: 402,
    nativeType: 'billing_error',
    chatType: 'insufficient_quota',
    chatCode: 'insufficient_quota',
  },
  budget_reached: {
    status: 402,
    nativeType: 'billing_error',
    chatType: 'insufficient_quota',
    chatCode: 'insufficient_quota',
  },
  model_not_allowed: {
    status: 403,
    nativeType: 'permission_error',
    chatType: 'invalid_request_error',
    chatCode: 'model_not_allowed',
  },
  account_suspended: {
    status: 403,
    nativeType: 'permission_error',
    chatType: 'invalid_request_error',
    chatCode: 'account_suspended',
  },
  unknown_model: {
    status: 404,
    nativeType: 'not_found_error',
    chatType: 'invalid_request_error',
    chatCode: 'model_not_found',
  },
  response_not_found: {
    status: 404,
    nativeType: 'not_found_error',
    chatType: 'invalid_request_error',
    chatCode: null,
  },
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
  not_json: {
    status: 415,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'unsupported_media_type',
  },
  body_compressed: {
    status: 415,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'unsupported_media_type',
  },
  no_websocket: {
    status: 426,
    nativeType: 'invalid_request_error',
    chatType: 'invalid_request_error',
    chatCode: 'websocket_not_supported',
  },
  rate_limited: {
    status: 429,
    nativeType: 'rate_limit_error',
    chatType: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
  },
  limit_reached: {
    status: 429,
    nativeType: 'rate_limit_error',
    chatType: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
  },
  too_many_end_users: {
    status: 429,
    nativeType: 'rate_limit_error',
    chatType: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
  },
  too_many_at_once: {
    status: 429,
    nativeType: 'rate_limit_error',
    chatType: 'rate_limit_error',
    chatCode: 'rate_limit_exceeded',
  },
  fault: {
    status: 500,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: null,
  },
  upstream_broken: {
    status: 502,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: null,
  },
  upstream_denied: {
    status: 502,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: null,
  },
  unavailable: {
    status: 503,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: 'service_unavailable',
  },
  books_full: {
    status: 503,
    nativeType: 'api_error',
    chatType: 'server_error',
    chatCode: 'service_unavailable',
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
  upstream_overloaded: {
    status: 529,
    nativeType: 'overloaded_error',
    chatType: 'server_error',
    chatCode: 'overloaded',
    chatStatus: 503,
  },
} as const satisfies Record<string, RefusalKind>;

export type RefusalName = keyof typeof REFUSALS;

export interface RefusalDetails {
  readonly headers?: Readonly<Record<string, string>>;
  /** The field at fault, for formats that have a place for it. */
  readonly param?: string | null;
  /** The message for chat clients, if they know the refusal by other words. */
  readonly chatMessage?: string;
  /** The code for chat clients, if an upstream reported a more exact one. */
  readonly chatCode?: string | null;
  /** Machine-readable details for native clients to continue without the refused feature. */
  readonly nativeDetails?: Readonly<Record<string, unknown>> | undefined;
  /** Set if an upstream may have refused what another one serves. */
  readonly denial?: Denial | undefined;
  /** Set if an answer is too large: another one would be the same, and no upstream is at fault. */
  readonly isOversize?: boolean;
  /** What an upstream says that it used for an answer which it did not finish. */
  readonly reportedUsage?: Usage | undefined;
  /** What went wrong at an upstream, in our own words: for the log, not for the client. */
  readonly reason?: string | undefined;
}

/**
 * What an upstream does not serve: anything from us, because of our key or our credit; or this
 * request, because of its model or its content.
 */
export type Denial = 'account' | 'request';

/**
 * An expected refusal for the client, as opposed to a fault of the gateway. Spreading it copies all
 * its details.
 */
export class Refusal extends Error implements Required<RefusalDetails> {
  readonly refusal: RefusalName;
  readonly headers: Readonly<Record<string, string>>;
  readonly param: string | null;
  readonly chatMessage: string;
  readonly chatCode: string | null;
  readonly nativeDetails: Readonly<Record<string, unknown>> | undefined;
  readonly denial: Denial | undefined;
  readonly isOversize: boolean;
  reportedUsage: Usage | undefined;
  reason: string | undefined;

  constructor(refusal: RefusalName, message: string, details: RefusalDetails = {}) {
    // A stack trace says nothing here, and costs more than the rest of a refused request.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.refusal = refusal;
    this.headers = details.headers ?? {};
    this.param = details.param ?? null;
    this.chatMessage = details.chatMessage ?? message;
    this.chatCode = details.chatCode ?? REFUSALS[refusal].chatCode;
    this.nativeDetails = details.nativeDetails;
    this.denial = details.denial;
    this.isOversize = details.isOversize ?? false;
    this.reportedUsage = details.reportedUsage;
    this.reason = details.reason;
  }

  get status(): number {
    return REFUSALS[this.refusal].status;
  }

  get chatStatus(): number {
    const kind: RefusalKind = REFUSALS[this.refusal];
    return kind.chatStatus ?? kind.status;
  }
}
