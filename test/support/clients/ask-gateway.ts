import { createSseDecoder } from '../../../src/protocol/sse/sse-decoder.ts';

export type ClientFormat = 'native' | 'chat';

export interface Question {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly format: ClientFormat;
  readonly isStream: boolean;
  readonly prompt?: string;
}

/** An answer as a client understands it, whole or streamed, in either format. */
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

/** Sends a request and reads to the end. Throws if the gateway breaks off without an error. */
export async function askGateway(question: Question): Promise<Told> {
  const { format, isStream } = question;
  const response = await postQuestion(question);
  const { status, headers } = response;
  const body = await response.text();
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && status === 200 && !isEvents) throw new Error(`no stream: ${body}`);
  const events = isEvents ? readEvents(body) : [JSON.parse(body) as Fields];
  const texts = events.map(format === 'native' ? readNativeText : readChatText);
  const last = events.at(-1) ?? {};
  const isEnded = format === 'native' ? last['type'] === 'message_stop' : body.endsWith(CHAT_END);
  return {
    status,
    headers,
    text: texts.join(''),
    error: last['error'] as Told['error'],
    isComplete: isEvents ? isEnded : status === 200,
    inputTokens: events.map(readInputTokens).findLast((tokens) => tokens !== undefined),
    outputTokens: events.map(readOutputTokens).findLast((tokens) => tokens !== undefined),
  };
}

export function postQuestion(
  { url, key, model, format, isStream, prompt = 'Hi' }: Question,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/${format === 'native' ? 'messages' : 'chat/completions'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      ...(format === 'native' && { 'llm-version': '2023-06-01' }),
    },
    body: JSON.stringify({
      model,
      max_tokens: 100,
      stream: isStream,
      messages: [{ role: 'user', content: prompt }],
      ...(format === 'chat' && isStream && { stream_options: { include_usage: true } }),
    }),
    ...(signal && { signal }),
  });
}

const CHAT_END = 'data: [DONE]\n\n';

type Fields = Readonly<Record<string, unknown>>;

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

interface Usages {
  readonly usage?: {
    readonly input_tokens?: number;
    readonly prompt_tokens?: number;
    readonly output_tokens?: number;
    readonly completion_tokens?: number;
  } | null;
}

function readInputTokens({ usage }: Usages): number | undefined {
  return usage?.input_tokens ?? usage?.prompt_tokens;
}

function readOutputTokens({ usage }: Usages): number | undefined {
  return usage?.output_tokens ?? usage?.completion_tokens;
}
