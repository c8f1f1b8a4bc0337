import { packageVersion } from '../config/package-version.ts';
import type { AdminSource } from '../config/source/read-admin-source.ts';
import { CommandFailure, NodeRefusal, type RefusalBody } from './command-failure.ts';

const ANSWER_TIME_MAX_MS = 10_000;
/**
 * Codes of a connection that was never made. After any other failure, the node may have read it
 * all.
 */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);
/** For long lists, and for questions for which the books may have to read many days. */
export const BOOKS_TIME_MAX_MS = 60_000;
/** For answers with any number of rows, which a slow reader may delay. */
const TEXT_TIME_MAX_MS = 600_000;
const PAGE_MAX = 1_000;

export interface AdminClient {
  /** `path` begins after `/admin/v1`. */
  call<Answer>(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT',
    path: string,
    body?: object,
    answerTimeMaxMs?: number,
  ): Promise<Answer>;
  /** An answer that is text, such as CSV, of any length: whole lines without the last end. */
  read(path: string): AsyncIterable<string>;
}

export function createAdminClient({ url, token, tokenPath }: AdminSource): AdminClient {
  if (token === undefined) throw refuseWithoutToken(tokenPath);
  const ask = (method: string, path: string, body: object | undefined, answerTimeMaxMs: number) =>
    fetchFromNode(url, `/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        // By this header, the audit log distinguishes commands from other callers.
        'user-agent': `tollgate-cli/${packageVersion()}`,
        'content-type': 'application/json',
      },
      signal: AbortSignal.timeout(answerTimeMaxMs),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      if (cause instanceof CommandFailure) throw cause;
      throw new CommandFailure(explainSilence(cause, { method, url, answerTimeMaxMs }), { cause });
    });

  return {
    async call<Answer>(
      method: string,
      path: string,
      body?: object,
      answerTimeMaxMs = ANSWER_TIME_MAX_MS,
    ) {
      const response = await ask(method, path, body, answerTimeMaxMs);
      const answer = await readAnswer(response, { method, url, answerTimeMaxMs });
      if (response.ok) return answer as Answer;
      throw refuseAnswer(response.status, answer, url);
    },
    async *read(path) {
      const response = await ask('GET', path, undefined, TEXT_TIME_MAX_MS);
      if (!response.ok) {
        const question = { method: 'GET', url, answerTimeMaxMs: TEXT_TIME_MAX_MS };
        const answer = await readAnswer(response, question);
        throw refuseAnswer(response.status, answer, url);
      }
      try {
        yield* splitLines(response.body ?? []);
      } catch (cause) {
        const message = `the response of ${url} was cut off: the output is incomplete`;
        throw new CommandFailure(message, { cause });
      }
    },
  };
}

interface ListQuestion {
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Which parameter names the place where the next page begins. */
  readonly cursor: 'after' | 'before';
  readonly countMax?: number | undefined;
}

/** The pages of a list. Each is asked for only when the one before it has been dealt with. */
export async function* readPages<Item>(
  client: AdminClient,
  path: string,
  { query, cursor, countMax = Number.POSITIVE_INFINITY }: ListQuestion,
): AsyncGenerator<readonly Item[]> {
  let next: string | null | undefined;
  for (let left = countMax; left > 0 && next !== null; ) {
    const fields = { ...query, limit: Math.min(left, PAGE_MAX), [cursor]: next };
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const page: { readonly data: readonly Item[]; readonly next: string | null } =
      await client.call('GET', `${path}?${parameters}`, undefined, BOOKS_TIME_MAX_MS);
    yield page.data;
    left -= page.data.length;
    next = page.next;
  }
}

/**
 * Returns whole lines, as many at a time as have come, without the last end, and then the rest.
 */
async function* splitLines(body: AsyncIterable<Uint8Array> | readonly never[]) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const end = rest.lastIndexOf('\n');
    if (end < 0) continue;
    yield rest.slice(0, end);
    rest = rest.slice(end + 1);
  }
  if (rest !== '') yield rest;
}

interface Question {
  readonly method: string;
  readonly url: string;
  readonly answerTimeMaxMs: number;
}

async function readAnswer(response: Response, question: Question): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new CommandFailure(explainBrokenAnswer(cause, question), { cause });
  }
}

function explainBrokenAnswer(error: unknown, question: Question): string {
  const { url } = question;
  // Only an answer that came to its end is read as JSON.
  if (error instanceof SyntaxError) {
    return `${url} does not answer like the admin API of a node: is it the address of ops.listen?`;
  }
  if (isTimeout(error)) return explainTimeout(question);
  return `the response of ${url} was cut off${doubtOf(question)}`;
}

function explainSilence(error: unknown, question: Question): string {
  if (isTimeout(error)) return explainTimeout(question);
  const { code = '', message = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  // What `fetch` refuses by itself, such as a port that browsers block, has no code.
  if (code === '' || UNSENT_CODES.has(code)) {
    return `cannot reach the node at ${question.url}: is it running? For another one, set --url or TOLLGATE_ADMIN_URL`;
  }
  return `the node at ${question.url} gave no answer (${message || code})${doubtOf(question)}`;
}

function explainTimeout(question: Question): string {
  const seconds = question.answerTimeMaxMs / 1_000;
  return `the node at ${question.url} did not answer within ${seconds} s${doubtOf(question)}`;
}

function doubtOf({ method }: Question): string {
  return method === 'GET' ? '' : ': the request may or may not have been carried out';
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

export function refuseWithoutToken(tokenPath: string): CommandFailure {
  return new CommandFailure(
    `there is no admin token: set TOLLGATE_ADMIN_TOKEN, or name the data folder of the node with --data-dir (there is none at ${tokenPath})`,
  );
}

/** Turns an answer that reports a failure into an error. */
export function refuseAnswer(status: number, answer: unknown, url: string): NodeRefusal {
  const { error } = (answer ?? {}) as { readonly error?: RefusalBody };
  if (status === 401) {
    const message = `${error?.message ?? 'the token is wrong'} for ${url}: set TOLLGATE_ADMIN_TOKEN to the admin token in its settings or to the token of an operator, or name its data folder with --data-dir`;
    return new NodeRefusal({ code: 'unauthorized', message });
  }
  const unknown = { code: 'unknown', message: `${url} answered with status ${status}` };
  return new NodeRefusal(error?.message === undefined ? unknown : error);
}

/**
 * Follows no redirect: on its way a POST would become a GET, and the token would be left out or
 * shown to somebody else.
 */
export async function fetchFromNode(
  url: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' });
  const to = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || to === null) return response;
  await response.body?.cancel();
  throw new CommandFailure(
    `${url} is not the address of the node, it leads to ${to}: --url or TOLLGATE_ADMIN_URL must name where the node is`,
  );
}
