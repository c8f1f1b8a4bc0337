import { FORMAT_PATHS } from '../../../src/protocol/format-names.ts';
import { createSseDecoder } from '../../../src/protocol/sse/sse-decoder.ts';

export type ClientFormat = 'native' | 'chat' | 'responses';

export interface Question {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly format: ClientFormat;
  readonly isStream: boolean;
  readonly prompt?: string;
  readonly outputMax?: number;
  /** Of the Responses format alone: the gateway keeps the answer. */
  readonly isKept?: boolean;
}

/** An answer as a client understands it, whole or streamed, in any format. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error as the format writes it, also at the end of a stream. */
  readonly error: { readonly type: string; readonly message: string } | undefined;
  /** Whether the answer ended as complete answers of its format do. */
  readonly isComplete: boolean;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** Sends a request and reads its answer. */
export async function askGateway(question: Question): Promise<Told> {
  return readTold(question, await postQuestion(question));
}

/** Reads an answer to its end. Throws if the gateway breaks off without an error. */
export async function readTold(
  { format, isStream }: Pick<Question, 'format' | 'isStream'>,
  response: Response,
): Promise<Told> {
  const { status, headers } = response;
  const body = await response.text();
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && status === 200 && !isEvents) throw new Error(`no stream: ${body}`);
  const events = isEvents ? readEvents(body) : [JSON.parse(body) as Fields];
  if (isEvents && format === 'responses') checkNumbers(events);
  const last = events.at(-1) ?? {};
  // Streams of the Responses format report a failure twice.
  const failed = last['type'] === 'response.failed' ? events.at(-2) : last;
  return {
    status,
    headers,
    text: events.map(TEXT_READERS[format]).join(''),
    error: (failed?.['error'] ?? undefined) as Told['error'],
    isComplete: isEvents ? isEnded(format, last, body) : status === 200,
    inputTokens: events.map(readInputTokens).findLast((tokens) => tokens !== undefined),
    outputTokens: events.map(readOutputTokens).findLast((tokens) => tokens !== undefined),
  };
}

export function postQuestion(question: Question, signal?: AbortSignal): Promise<Response> {
  const { url, key, model, format, isStream } = question;
  const { prompt = 'Hi', outputMax = 100, isKept = false } = question;
  return fetch(`${url}${FORMAT_PATHS[format]}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      ...(format === 'native' && { 'llm-version': '2023-06-01' }),
    },
    body: JSON.stringify({
      model,
      stream: isStream,
      ...(format === 'responses'
        ? { store: isKept, max_output_tokens: outputMax, input: prompt }
        : { max_tokens: outputMax, messages: [{ role: 'user', content: prompt }] }),
      ...(format === 'chat' && isStream && { stream_options: { include_usage: true } }),
    }),
    ...(signal && { signal }),
  });
}

const CHAT_END = 'data: [DONE]\n\n';

type Fields = Readonly<Record<string, unknown>>;

function isEnded(format: ClientFormat, last: Fields, body: string): boolean {
  if (format === 'chat') return body.endsWith(CHAT_END);
  return last['type'] === (format === 'native' ? 'message_stop' : 'response.completed');
}

function checkNumbers(events: readonly Fields[]): void {
  const numbers = events.map((event) => event['sequence_number']);
  if (numbers.some((number, i) => number !== i)) throw new Error(`a gap in ${numbers}`);
}

function readEvents(body: string): readonly Fields[] {
  return createSseDecoder()
    .push(Buffer.from(body))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Fields);
}

interface NativeTexts {
  readonly delta?: { readonly text?: string };
  readonly content?: readonly { readonly text?: string }[];
}

function readNativeText(event: NativeTexts): string {
  return event.delta?.text ?? (event.content ?? []).map(({ text = '' }) => text).join('');
}

interface ChatTexts {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content?: string | null };
  }[];
}

function readChatText({ choices = [] }: ChatTexts): string {
  return choices.map(({ delta, message }) => delta?.content ?? message?.content ?? '').join('');
}

interface ResponseTexts {
  readonly type?: string;
  readonly delta?: string;
  readonly output?: readonly NativeTexts[];
}

function readResponseText({ type, delta, output = [] }: ResponseTexts): string {
  if (type === 'response.output_text.delta') return delta ?? '';
  return output.map(readNativeText).join('');
}

const TEXT_READERS: Readonly<Record<ClientFormat, (event: object) => string>> = {
  native: readNativeText,
  chat: readChatText,
  responses: readResponseText,
};

interface Usage {
  readonly input_tokens?: number;
  readonly prompt_tokens?: number;
  readonly output_tokens?: number;
  readonly completion_tokens?: number;
}

interface Usages {
  readonly usage?: Usage | null;
  readonly response?: { readonly usage?: Usage | null };
}

function readInputTokens({ response, usage = response?.usage }: Usages): number | undefined {
  return usage?.input_tokens ?? usage?.prompt_tokens;
}

function readOutputTokens({ response, usage = response?.usage }: Usages): number | undefined {
  return usage?.output_tokens ?? usage?.completion_tokens;
}
