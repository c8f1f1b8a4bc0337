import type { Usage } from '../inference.ts';
import { type Json, parseJson, readObject, readText } from '../json/upstream-json.ts';
import { type Denial, Refusal, type RefusalName } from '../refusals.ts';
import { isObject } from '../schema.ts';

interface UpstreamErrorAnswer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** What an upstream says about an error, in a format of ours or in one of its own. */
interface Complaint {
  readonly names: readonly string[];
  /** A plain word. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly param: string | undefined;
}

const MESSAGE_CHARS_MAX = 2_000;
/** Other codes may be the vendor's own names. */
const PLAIN_CODE = /^[a-z_]{1,64}$/;
const PARAM_CHARS_MAX = 200;
/** Clients that are asked to wait longer either sleep that long or do not wait at all. */
const RETRY_AFTER_SECONDS_MAX = 59;

/**
 * The error names of all formats, with the status that each has if it comes instead of an answer.
 */
const STATUS_OF_NAME: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  insufficient_quota: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  server_is_overloaded: 503,
  slow_down: 503,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Problems between the gateway and its upstream, which the client cannot fix. */
const STATUSES_OF_OURS = [401, 402, 403, 404];
/** The others may be about one model, or about what a request says. */
const STATUSES_OF_OUR_ACCOUNT = [401, 402];
/** Vendors quote requests when they refuse them with 400, but not when they count them. */
const OUR_QUOTA = /credit balance is too low|plans? (and|&) billing|your current quota/i;
/**
 * With 402: the credits that are left are too few for this request, but not for a smaller one. A
 * client could put nothing but numbers into it.
 */
const OUR_CREDIT_FOR_LESS = [
  /^This request requires more credits, or fewer max_tokens\. You requested up to \d+ tokens, but can only afford [1-9]/,
  /^Prompt tokens limit exceeded: \d+ > [1-9]/,
];
/** What vendors say about our account with 400. */
const OUR_ACCOUNT =
  /credit balance is too low|\bAPI key (not valid|expired)|Incorrect API key provided|invalid x-api-key/i;
/** The same as whole messages, which have no room for words that a client could have sent. */
const OUR_ACCOUNT_ALONE = [
  /^Your credit balance is too low to access the (\w+ )?API\.( Please go to Plans & Billing to upgrade or purchase credits\.)?$/,
  /^API key (not valid|expired)\.( Please (pass a valid|renew the) API key\.)?$/,
  /^Incorrect API key provided: \S+\. You can (find|obtain) (your|an) API key (at|from|on) https:\/\/\S+$/,
  /^invalid x-api-key$/,
];
/** What vendors say of a prompt that is too long. Some of them have no name for it. */
const CONTEXT_TOO_LONG = [
  /prompt (is )?too long|exceed context limit|maximum context length|exceeds the context window/i,
  /input token count.*exceeds the maximum|prompt token count.*exceeds the limit/i,
  /maximum prompt length is \d|exceeded model token limit|input is too long for requested model/i,
  /exceeds the available context size|greater than the context length|context window exceeds limit/i,
  /reduce the length of the messages/i,
];

/**
 * Decodes an error answer. The client sees the upstream's message only if it is about the client's
 * own request.
 */
export function decodeUpstreamError({ status, body, retryAfter }: UpstreamErrorAnswer): Refusal {
  return toRefusal(status, readComplaint(parseJson(body)), retryAfter);
}

/**
 * Whether the value of an `error` field really reports an error. Some upstreams write the field
 * with each answer, with nothing in it.
 */
export function reportsError(error: unknown): boolean {
  if (Array.isArray(error)) return error.length > 0;
  return isObject(error) ? Object.values(error).some(Boolean) : Boolean(error);
}

/**
 * Decodes an error that comes in place of an answer or in the middle of one, and may report the
 * usage so far.
 */
export function decodeStreamError(payload: Json, reportedUsage?: Usage): Refusal {
  const complaint = readComplaint(payload);
  const { code } = readObject(payload, 'error');
  const status = typeof code === 'number' ? code : complaint.names.map(statusOf).find(Boolean);
  const refusal = toRefusal(status ?? 500, complaint, undefined);
  refusal.reason = `an error in its answer (${status ?? 500})`;
  refusal.reportedUsage = reportedUsage;
  return refusal;
}

function statusOf(name: string): number | undefined {
  return Object.hasOwn(STATUS_OF_NAME, name) ? STATUS_OF_NAME[name] : undefined;
}

function toRefusal(status: number, complaint: Complaint, retryAfter: string | undefined): Refusal {
  if (isAboutAccount(status, complaint)) return refuseDenied('account');
  if (isBetweenUs(complaint)) return refuseDenied('request');
  switch (status) {
    case 400:
    case 422:
      return refuseRequest(complaint);
    case 413:
      return refuseWith('body_too_large', complaint);
    case 408:
    case 504:
    case 524:
      return new Refusal('answer_too_slow', 'The upstream took too long.');
    case 429:
    case 503:
    case 529:
      return new Refusal('upstream_overloaded', 'Overloaded', {
        headers: encodeRetryAfter(retryAfter),
      });
    default:
      return status >= 300 && status < 500
        ? refuseDenied('request')
        : new Refusal('upstream_broken', 'The upstream failed.');
  }
}

/**
 * For the client this looks like a broken upstream, but a retry at the same upstream cannot help.
 */
function refuseDenied(denial: Denial): Refusal {
  return new Refusal('upstream_denied', 'The upstream failed.', { denial });
}

/** Never true of what a client could bring about: it would cut off all others. */
function isAboutAccount(status: number, { names, message = '' }: Complaint): boolean {
  if (status === 402 && OUR_CREDIT_FOR_LESS.some((words) => words.test(message))) return false;
  if (STATUSES_OF_OUR_ACCOUNT.includes(status)) return true;
  if (status === 429 && OUR_QUOTA.test(message)) return true;
  return (status === 429 || status >= 500) && namesOneOf(STATUSES_OF_OUR_ACCOUNT, names);
}

function isBetweenUs({ names, message = '' }: Complaint): boolean {
  return namesOneOf(STATUSES_OF_OURS, names) || OUR_ACCOUNT_ALONE.some((all) => all.test(message));
}

function namesOneOf(statuses: readonly number[], names: Complaint['names']): boolean {
  return names.some((name) => statuses.includes(statusOf(name) ?? 0));
}

function refuseRequest(complaint: Complaint): Refusal {
  const { names, message = '' } = complaint;
  // It may be about our key, or quote the client. Asking another upstream will show which.
  if (OUR_ACCOUNT.test(message)) return refuseWith('invalid_request', complaint, 'request');
  const isTooLong =
    names.includes('context_length_exceeded') ||
    CONTEXT_TOO_LONG.some((words) => words.test(message));
  return refuseWith(isTooLong ? 'context_too_long' : 'invalid_request', complaint);
}

/** Keeps the upstream's own words and its code, because clients match on them. */
function refuseWith(
  refusal: RefusalName,
  { message, param, code }: Complaint,
  denial?: Denial,
): Refusal {
  const words = message ?? 'The upstream refused the request.';
  const isUnknownToNative =
    refusal === 'context_too_long' && !/prompt is too long|exceed context limit/.test(words);
  return new Refusal(refusal, isUnknownToNative ? `prompt is too long: ${words}` : words, {
    chatMessage: words,
    ...(denial !== undefined && { denial }),
    ...(param !== undefined && { param }),
    ...(refusal === 'invalid_request' && code !== undefined && { chatCode: code }),
  });
}

const NO_COMPLAINT: Complaint = {
  names: [],
  code: undefined,
  message: undefined,
  param: undefined,
};

/** Some vendors put the error into a list. */
function readComplaint(payload: unknown): Complaint {
  const body: unknown = Array.isArray(payload) ? payload[0] : payload;
  if (!isObject(body)) return NO_COMPLAINT;
  const error = isObject(body['error']) ? body['error'] : body;
  const code = readText(error, 'code');
  const names = [code, readText(error, 'type')];
  const message =
    readText(error, 'message') ?? readText(body, 'error') ?? readDetail(body['detail']);
  return {
    names: names.filter((name) => name !== undefined),
    code: code !== undefined && PLAIN_CODE.test(code) ? code : undefined,
    message: message?.slice(0, MESSAGE_CHARS_MAX),
    param: readText(error, 'param')?.slice(0, PARAM_CHARS_MAX),
  };
}

/** Servers that validate requests with a schema report errors in `detail`. */
function readDetail(detail: unknown): string | undefined {
  if (typeof detail === 'string') return detail;
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  return isObject(first) ? readText(first, 'msg') : undefined;
}

/** A date is dropped, because the client's clock may be wrong. */
function encodeRetryAfter(value: string | undefined): Readonly<Record<string, string>> {
  if (value === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return {};
  const seconds = Math.min(Math.max(Math.ceil(Number(value)), 1), RETRY_AFTER_SECONDS_MAX);
  return { 'retry-after': String(seconds) };
}
