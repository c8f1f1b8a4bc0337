/** One minimal native request, and its answer. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly error?: { readonly type: string; readonly message: string };
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  };
  /** The request was admitted or refused between these two times, by the clock of this process. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

export const HAIKU = 'llm-haiku-4.5';

const TRIES_MAX = 20;

export function messageOf(text: string, more: object = {}): object {
  return { model: HAIKU, max_tokens: 100, messages: [{ role: 'user', content: text }], ...more };
}

export async function askModel(url: string, key: string, body: object): Promise<Answered> {
  const sentMs = performance.now();
  const response = await post(url, key, body);
  const answeredMs = performance.now();
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text),
    sentMs,
    answeredMs,
  };
}

/**
 * The same for one of many requests at once. A machine that is busy enough resets a connection, and
 * then nobody knows whether the request was admitted, as after a 503.
 */
export async function askAmongMany(url: string, key: string, body: object): Promise<Answered> {
  const sentMs = performance.now();
  return askModel(url, key, body).catch((error: Error) => {
    if (!/other side closed|ECONNRESET/.test(String(error.cause))) throw error;
    return { status: 503, headers: new Headers(), body: {}, sentMs, answeredMs: performance.now() };
  });
}

/**
 * The same, again and again until it is served or refused: a machine that is busy enough resets
 * connections, or has Redis answer too late. What was admitted without an answer is held until its
 * lease ends.
 */
export async function askUntilAnswered(url: string, key: string, body: object): Promise<Answered> {
  for (let tries = 1; ; tries++) {
    const answered = await askModel(url, key, body).catch((error: Error) => error);
    if (!(answered instanceof Error) && answered.status !== 503) return answered;
    if (tries === TRIES_MAX) throw new Error(`not answered after ${tries} tries`);
  }
}

export interface OpenStream {
  readonly status: number;
  readonly requestId: string | null;
  /** Everything that has arrived. */
  text(): string;
  /** Resolves when the stream has ended, in order or not. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Opens a stream again and again until it is served or refused, as `askUntilAnswered` does. */
export async function openStreamUntilAnswered(
  url: string,
  key: string,
  body: object,
): Promise<OpenStream> {
  for (let tries = 1; ; tries++) {
    const stream = await openStream(url, key, body);
    if (stream.status !== 503) return stream;
    if (tries === TRIES_MAX) throw new Error(`not answered after ${tries} tries`);
  }
}

/** Resolves with the head of the answer. Events then arrive in the background. */
export async function openStream(url: string, key: string, body: object): Promise<OpenStream> {
  const leaving = new AbortController();
  const response = await post(url, key, { ...body, stream: true }, leaving.signal);
  let text = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  };
  return {
    status: response.status,
    requestId: response.headers.get('request-id'),
    text: () => text,
    // A stream that breaks off has also ended. Tests look at what has arrived.
    ended: read().catch(() => {}),
    leave: () => leaving.abort(),
  };
}

function post(url: string, key: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'llm-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}
