import { ApiProblem, readProblem, toProblem } from './api-problem.ts';
import type { Me, Query } from './api-types.ts';
import type { BooksTime } from './books-types.ts';
import { createSessionHeaders } from './create-session-headers.ts';
import { endSignIn, isWaiting, me, token } from './session.ts';
import { isSignedIn, untilTrue } from './watch.ts';

const ADMIN = '/admin/v1';
const ANSWER_TIME_MAX_MS = 30_000;
const UNAUTHORIZED = 401;
const NOBODY = { status: UNAUTHORIZED, code: 'signed_out' };
/**
 * Marks an answer that the node passed on from its API: a refusal in it is not about this token.
 */
const RELAYED = 'x-tollgate-answered-by';

interface AdminRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly query?: Query;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  readonly answerTimeMaxMs?: number;
}

/**
 * Returns a response that is a success or was passed on, with its body unread. Throws an
 * ApiProblem for anything else, and, without asking the node, if nobody is signed in.
 */
export async function fetchAdmin(path: string, request: AdminRequest = {}): Promise<Response> {
  const used = token.value;
  if (used === undefined) throw new ApiProblem('nobody is signed in', NOBODY);
  const response = await send(
    path,
    used === null ? createSessionHeaders(me.value) : showToken(used),
    request,
  );
  if (response.ok || response.headers.has(RELAYED)) return response;
  const problem = await readProblem(response);
  // The refused token may have been replaced in the meantime.
  if (problem.status === UNAUTHORIZED && token.value === used) {
    endSignIn(`You were signed out: ${problem.message}.`);
  }
  throw problem;
}

/** Reads an answer that is one JSON text. */
export async function readAdmin<Answer>(path: string, request: AdminRequest = {}): Promise<Answer> {
  return (await readAnswer<Answer>(path, request)).answer;
}

interface FromBooks {
  readonly books_until: string | null;
  readonly booksTime: BooksTime;
}

/** Reads an answer from the books. The clock of this browser does not show how late they are. */
export async function readBooks<Answer extends FromBooks>(
  path: string,
  request: AdminRequest,
): Promise<Answer> {
  const { answer, headers } = await readAnswer<Answer>(path, request);
  const readMs = Date.now();
  const answeredMs = Date.parse(headers.get('date') ?? '') || readMs;
  return { ...answer, booksTime: { until: answer.books_until, answeredMs, readMs } };
}

interface ReadAnswer<Answer> {
  readonly answer: Answer;
  readonly headers: Headers;
}

/**
 * If the session has ended, a question is asked again when its page continues; a change is not,
 * because its sender has to know.
 */
async function readAnswer<Answer>(
  path: string,
  request: AdminRequest,
): Promise<ReadAnswer<Answer>> {
  try {
    return await readOnce<Answer>(path, request);
  } catch (cause) {
    const isQuestion = (request.method ?? 'GET') === 'GET';
    if (!isQuestion || toProblem(cause).status !== UNAUTHORIZED || !isWaiting.value) throw cause;
  }
  const { signal = new AbortController().signal } = request;
  await untilTrue(isSignedIn, signal);
  signal.throwIfAborted();
  return await readAnswer<Answer>(path, request);
}

async function readOnce<Answer>(path: string, request: AdminRequest): Promise<ReadAnswer<Answer>> {
  const limit = AbortSignal.timeout(request.answerTimeMaxMs ?? ANSWER_TIME_MAX_MS);
  const signal = request.signal === undefined ? limit : AbortSignal.any([request.signal, limit]);
  const response = await fetchAdmin(path, { ...request, signal });
  try {
    return { answer: (await response.json()) as Answer, headers: response.headers };
  } catch (cause) {
    throw toProblem(cause);
  }
}

/**
 * Returns whose token it is, or, for null, whose session. Throws the node's refusal if the token is
 * wrong or the node does not check tokens right now.
 */
export async function checkToken(candidate: string | null): Promise<Me> {
  const signal = AbortSignal.timeout(ANSWER_TIME_MAX_MS);
  const headers = candidate === null ? createSessionHeaders(undefined) : showToken(candidate);
  const response = await send('/operators/me', headers, { signal });
  if (!response.ok) throw await readProblem(response);
  return (await response.json()) as Me;
}

const showToken = (shown: string): HeadersInit => ({ authorization: `Bearer ${shown}` });

async function send(path: string, shown: HeadersInit, request: AdminRequest): Promise<Response> {
  const { method = 'GET', query = {}, body, signal } = request;
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  try {
    return await fetch(`${ADMIN}${path}${search.size > 0 ? `?${search}` : ''}`, {
      method,
      headers: {
        ...shown,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (cause) {
    throw toProblem(cause);
  }
}
