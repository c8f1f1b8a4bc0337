import type { Secret } from '../lib/secret.ts';

const POST_TIME_MAX_MS = 5_000;
/** Bounds the collector's answer, which has a few words. */
const ANSWER_BYTES_MAX = 65_536;
/**
 * The statuses after which a retry makes sense; see "OTLP/HTTP Response" in the OTLP specification.
 */
const RETRYABLE_STATUSES = [429, 502, 503, 504];

export interface Collector {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, Secret>>;
}

export type PostResult =
  | { readonly kind: 'taken'; readonly rejected: number }
  | { readonly kind: 'failed'; readonly isRetryable: boolean; readonly why: string };

/** Sends one request of OTLP over HTTP. Never throws. */
export async function postSpans(collector: Collector, body: string): Promise<PostResult> {
  try {
    const response = await fetch(collector.endpoint, {
      method: 'POST',
      headers: { ...revealAll(collector.headers), 'content-type': 'application/json' },
      body,
      // No other server may see the headers.
      redirect: 'error',
      signal: AbortSignal.timeout(POST_TIME_MAX_MS),
    });
    const text = await readAnswer(response);
    if (response.ok) return { kind: 'taken', rejected: readRejected(text) };
    const isRetryable = RETRYABLE_STATUSES.includes(response.status);
    return { kind: 'failed', isRetryable, why: `status ${response.status}` };
  } catch (error) {
    return { kind: 'failed', isRetryable: true, why: explainError(error) };
  }
}

function revealAll(headers: Collector['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]));
}

/** Reads an answer of usual length to its end, so that the connection can be used again. */
async function readAnswer(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * A collector may take only a part of the spans, and says so in an answer that is otherwise good.
 */
function readRejected(text: string): number {
  try {
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } } | null;
    const rejected = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** Uses the words of the system, because messages of `fetch` itself only say "fetch failed". */
function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && cause.message === '' ? String(cause.code) : cause.message;
}
