import { waitUntil } from '../wait-until.ts';
import { startWaitingUpstream, type WaitingCall } from './start-waiting-upstream.ts';

/** What a vendor would bill for one request. */
export interface Counted {
  readonly input: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** The part that every request has, whatever its bytes. */
export const INPUT_TOKENS = 1_000;
/** The bytes of text; a thought has none, since it is hidden. */
const TOKEN = 'word';
/** Together more than the system buffers for a connection. */
const FILLING = { deltas: 192, bytes: 64 * 1024 };

/**
 * One request at a vendor that counts tokens. The test plays the vendor step by step, so it always
 * knows what has been generated.
 */
export interface CountedCall {
  readonly call: WaitingCall;
  counted(): Counted;
  begin(): void;
  /** Begins without reporting the input. */
  beginUntold(): void;
  /** Generates hidden output, and reveals only that it did so. */
  think(tokens: number): void;
  say(tokens: number): void;
  /** Sends far more than sockets hold, as text that costs nothing. */
  fillSockets(): void;
  /** Sends an event that reports the usage, but not the last such event. */
  reportUsage(): void;
  finish(): void;
  /** Sends the answer in one piece. */
  answerWhole(tokens: number): void;
  breakOff(): void;
}

/** A vendor of the native format: a real HTTP server. */
export async function startCountingVendor() {
  const upstream = await startWaitingUpstream();
  return {
    url: upstream.url,
    /** Resolves with the request that contains this text. */
    async waitForCall(text: string): Promise<CountedCall> {
      const find = () => upstream.calls.find(({ body }) => body.includes(text));
      await waitUntil(() => find() !== undefined, `the vendor has got ${text}`);
      const call = find();
      if (call === undefined) throw new Error(`the vendor has not got ${text}`);
      return createCountedCall(call);
    },
    hasCall: (text: string) => upstream.calls.some(({ body }) => body.includes(text)),
  };
}

function createCountedCall(call: WaitingCall): CountedCall {
  const { res } = call;
  const isCached = call.body.includes('cache_control');
  let output = 0;
  let block = -1;

  const send = (type: string, fields: object = {}) => {
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  };
  const usage = () => ({
    input_tokens: isCached ? 0 : INPUT_TOKENS,
    cache_creation_input_tokens: isCached ? INPUT_TOKENS : 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  });
  const message = () => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] as object[] },
    ...{ stop_reason: null as string | null, stop_sequence: null, usage: usage() },
  });
  const startBlock = (content: object) => {
    block += 1;
    send('content_block_start', { index: block, content_block: content });
  };
  const delta = (said: object) => send('content_block_delta', { index: block, delta: said });

  return {
    call,
    counted: () => ({
      input: isCached ? 0 : INPUT_TOKENS,
      cacheWrite: isCached ? INPUT_TOKENS : 0,
      output,
    }),
    begin() {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      send('message_start', { message: message() });
    },
    beginUntold() {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      send('message_start', { message: { ...message(), usage: { output_tokens: 0 } } });
    },
    think(tokens) {
      output += tokens;
      startBlock({ type: 'thinking', thinking: '', signature: '' });
      delta({ type: 'signature_delta', signature: 'c2ln' });
      send('content_block_stop', { index: block });
    },
    say(tokens) {
      output += tokens;
      startBlock({ type: 'text', text: '' });
      delta({ type: 'text_delta', text: TOKEN.repeat(tokens) });
      send('content_block_stop', { index: block });
    },
    fillSockets() {
      startBlock({ type: 'text', text: '' });
      const text = 'x'.repeat(FILLING.bytes);
      for (let i = 0; i < FILLING.deltas; i += 1) delta({ type: 'text_delta', text });
      send('content_block_stop', { index: block });
    },
    reportUsage() {
      const ending = { stop_reason: 'end_turn', stop_sequence: null };
      send('message_delta', { delta: ending, usage: usage() });
    },
    finish() {
      send('message_stop');
      res.end();
    },
    answerWhole(tokens) {
      output += tokens;
      const content = [{ type: 'text', text: TOKEN.repeat(tokens) }];
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ ...message(), content, stop_reason: 'end_turn' }));
    },
    breakOff: () => res.destroy(),
  };
}
