export type FloodFormat = 'native' | 'chat';

/** The parameters of a flood, sent in the text of the request. */
export interface FloodOrder {
  readonly textBytes: number;
  readonly eventsMax: number;
}

export function encodeFloodOrder({ textBytes, eventsMax }: FloodOrder): string {
  return `flood ${textBytes} ${eventsMax}`;
}

export function parseFloodOrder(body: string): FloodOrder {
  const [, textBytes, eventsMax] = /flood (\d+) (\d+)/.exec(body) ?? [];
  if (textBytes === undefined) throw new Error(`this is no order: ${body}`);
  return { textBytes: Number(textBytes), eventsMax: Number(eventsMax) };
}

/** Every piece has a number, so that the text shows whether a piece is missing. */
export function pieceOf(number: number, textBytes: number): string {
  return `${number}.`.padEnd(textBytes, 'x');
}

interface FloodEvents {
  begin(): string;
  say(number: number, textBytes: number): string;
  end(count: number): string;
}

/** The events of one answer, as an upstream of this format writes them. */
export function eventsOf(format: FloodFormat, inputTokens = 10): FloodEvents {
  return format === 'native' ? createNativeEvents(inputTokens) : createChatEvents(inputTokens);
}

function createNativeEvents(inputTokens: number): FloodEvents {
  return {
    begin: () =>
      encodeNative({
        type: 'message_start',
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
          ...{ stop_reason: null, stop_sequence: null },
          usage: { input_tokens: inputTokens, output_tokens: 1 },
        },
      }) +
      encodeNative({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
    say: (number, textBytes) =>
      encodeNative({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: pieceOf(number, textBytes) },
      }),
    end: (count) =>
      encodeNative({ type: 'content_block_stop', index: 0 }) +
      encodeNative({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: count },
      }) +
      encodeNative({ type: 'message_stop' }),
  };
}

function createChatEvents(inputTokens: number): FloodEvents {
  return {
    begin: () => encodeChat({ choices: [choiceOf({ role: 'assistant', content: '' })] }),
    say: (number, textBytes) =>
      encodeChat({ choices: [choiceOf({ content: pieceOf(number, textBytes) })] }),
    end: (count) =>
      encodeChat({ choices: [choiceOf({}, 'stop')] }) +
      encodeChat({ choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: count } }) +
      'data: [DONE]\n\n',
  };
}

function encodeNative(payload: {
  readonly type: string;
  readonly [field: string]: unknown;
}): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}

function encodeChat(payload: object): string {
  const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return `data: ${JSON.stringify({ ...common, ...payload })}\n\n`;
}

function choiceOf(delta: object, finishReason: string | null = null): object {
  return { index: 0, delta, finish_reason: finishReason };
}
