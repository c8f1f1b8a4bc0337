/** The bytes that upstreams send: building blocks for scripts. */
export type UpstreamKind = 'native' | 'chat' | 'responses';

export interface ReportedUsage {
  readonly input: number;
  readonly output: number;
}

export const USAGE: ReportedUsage = { input: 12, output: 3 };
/**
 * The gateway's estimate of the question if no upstream counts it: 4 for the message, 1 for its
 * text.
 */
export const ESTIMATED_INPUT = 5;

export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
export const LAST_CHUNK = '0\r\n\r\n';

export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export function answerOf(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${body}`;
}

export function wholeBody(
  kind: UpstreamKind,
  text: string,
  usage: ReportedUsage | undefined,
): string {
  if (kind === 'native') {
    return JSON.stringify({
      id: 'msg_0123456789',
      type: 'message',
      role: 'assistant',
      model: 'vendor-name',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      ...(usage && { usage: nativeUsage(usage) }),
    });
  }
  if (kind === 'responses') return JSON.stringify(responseOf([messageOf(text)], usage));
  return JSON.stringify({
    id: 'chatcmpl-0123456789',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'vendor-name',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    ...(usage && { usage: chatUsage(usage) }),
  });
}

/** The events of one answer in three parts, each made of whole events. */
export interface StreamParts {
  /** Events that carry no text yet. */
  readonly begin: string;
  say(text: string): string;
  end(usage: ReportedUsage | undefined): string;
  error(status: number, message: string): string;
}

export function streamParts(kind: UpstreamKind): StreamParts {
  return { native: NATIVE_PARTS, chat: CHAT_PARTS, responses: createResponsesParts() }[kind];
}

/** A complete streamed body with these texts. */
export function streamBody(
  kind: UpstreamKind,
  texts: readonly string[],
  usage: ReportedUsage | undefined,
): string {
  const { begin, say, end } = streamParts(kind);
  return [begin, ...texts.map(say), end(usage)].join('');
}

export function errorBody(kind: UpstreamKind, message: string, type = 'api_error'): string {
  return kind === 'native'
    ? JSON.stringify({ type: 'error', error: { type, message } })
    : JSON.stringify({ error: { message, type, param: null, code: null } });
}

/** A valid HTTP answer of this kind, streamed or not. */
export function goodAnswer(
  kind: UpstreamKind,
  isStream: boolean,
  text = 'Hello!',
  usage: ReportedUsage | undefined = USAGE,
): string {
  return isStream
    ? STREAM_HEAD + chunkOf(streamBody(kind, [text], usage)) + LAST_CHUNK
    : answerOf(200, wholeBody(kind, text, usage));
}

const nativeUsage = ({ input, output }: ReportedUsage) => ({
  input_tokens: input,
  output_tokens: output,
});

const chatUsage = ({ input, output }: ReportedUsage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

function nativeEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

const NATIVE_PARTS: StreamParts = {
  begin:
    nativeEvent('message_start', {
      message: {
        id: 'msg_0123456789',
        type: 'message',
        role: 'assistant',
        model: 'vendor-name',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: nativeUsage({ ...USAGE, output: 0 }),
      },
    }) +
    nativeEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  say: (text) =>
    nativeEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: (usage) =>
    nativeEvent('content_block_stop', { index: 0 }) +
    nativeEvent('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      ...(usage && { usage: nativeUsage(usage) }),
    }) +
    nativeEvent('message_stop', {}),
  error: (status, message) =>
    nativeEvent('error', {
      error: { type: status === 529 ? 'overloaded_error' : 'api_error', message },
    }),
};

function chatChunk(delta: object, finishReason: string | null = null): string {
  return chatData({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function chatData(fields: object): string {
  const head = {
    id: 'chatcmpl-0123456789',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'vendor-name',
  };
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}

const CHAT_PARTS: StreamParts = {
  begin: chatChunk({ role: 'assistant', content: '' }),
  say: (text) => chatChunk({ content: text }),
  end: (usage) =>
    chatChunk({}, 'stop') +
    (usage === undefined ? '' : chatData({ choices: [], usage: chatUsage(usage) })) +
    'data: [DONE]\n\n',
  error: (status, message) =>
    `data: ${JSON.stringify({ error: { message, type: 'server_error', code: status } })}\n\n`,
};

const responsesUsage = ({ input, output }: ReportedUsage) => ({
  ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: 0 } },
  total_tokens: input + output,
});

function responseOf(output: readonly object[], usage: ReportedUsage | undefined) {
  return {
    ...{ id: 'resp_0123456789', object: 'response', created_at: 1_760_000_000 },
    ...{ status: 'completed', model: 'vendor-name', error: null, output },
    ...(usage && { usage: responsesUsage(usage) }),
  };
}

function messageOf(text: string) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content };
}

/** The parts of one stream: its end repeats what was said. */
function createResponsesParts(): StreamParts {
  let number = 0;
  let said = '';
  const event = (type: string, fields: object) =>
    nativeEvent(type, { sequence_number: number++, ...fields });
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const begun = { ...responseOf([], undefined), status: 'in_progress', usage: null };
  return {
    begin:
      event('response.created', { response: begun }) +
      event('response.output_item.added', {
        output_index: 0,
        item: { ...messageOf(''), status: 'in_progress', content: [] },
      }) +
      event('response.content_part.added', {
        ...place,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    say(text) {
      said += text;
      return event('response.output_text.delta', { ...place, delta: text, logprobs: [] });
    },
    end: (usage) =>
      event('response.output_text.done', { ...place, text: said, logprobs: [] }) +
      event('response.output_item.done', { output_index: 0, item: messageOf(said) }) +
      event('response.completed', { response: responseOf([messageOf(said)], usage) }),
    error: (status, message) =>
      event('error', {
        error: { message, code: status === 529 ? 'server_is_overloaded' : 'server_error' },
      }),
  };
}
