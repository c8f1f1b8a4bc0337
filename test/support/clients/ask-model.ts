/** One native request, as small as it can be, and what came back. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly error?: { readonly type: string; readonly message: string };
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  };
  /** Between these two, by the clock of this process, the request was admitted or refused. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

export const HAIKU = 'llm-haiku-4.5';

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

export interface OpenStream {
  readonly status: number;
  readonly requestId: string | null;
  /** All that has arrived. */
  text(): string;
  /** Resolves when the stream has ended, one way or the other. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Resolves with the head of the answer; events then come in by themselves. */
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
    // A stream that breaks off has ended too; what came of it is what a test looks at.
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
