import type { ServerResponse } from 'node:http';

/** The answer of a vendor of the native format that has searched the web. */
export interface ReportedSearches {
  readonly input: number;
  readonly output: number;
  readonly searches: number;
}

const usageOf = ({ input, output, searches }: ReportedSearches) => ({
  input_tokens: input,
  output_tokens: output,
  server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 },
});

const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor-name' };
export const FOUND = [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }];
export const FAILED = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
const calling = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
const result = (id: string, content: object) => ({
  ...{ type: 'web_search_tool_result', tool_use_id: id, content },
});

function answerWhole(response: ServerResponse, reported: ReportedSearches) {
  const content = [calling('s'), result('s', FOUND), { type: 'text', text: 'Much' }];
  const usage = usageOf(reported);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ...MESSAGE, content, stop_reason: 'end_turn', usage }));
}

const write = (response: ServerResponse, type: string, fields: object = {}) =>
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);

/** Like real vendors, it reports the searches at the end. */
export function beginStream(response: ServerResponse, results: readonly object[]) {
  response.setHeader('content-type', 'text/event-stream');
  const message = {
    ...MESSAGE,
    content: [],
    usage: usageOf({ input: 10, output: 1, searches: 0 }),
  };
  write(response, 'message_start', { message });
  const blocks = results.flatMap((content, i) => [calling(`s${i}`), result(`s${i}`, content)]);
  for (const [index, block] of blocks.entries()) {
    write(response, 'content_block_start', { index, content_block: block });
    write(response, 'content_block_stop', { index });
  }
  const index = blocks.length;
  write(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
  const delta = { type: 'text_delta', text: 'Much' };
  write(response, 'content_block_delta', { index, delta });
  write(response, 'content_block_stop', { index });
}

export function endStream(response: ServerResponse, reported: ReportedSearches) {
  const delta = { stop_reason: 'end_turn', stop_sequence: null };
  write(response, 'message_delta', { delta, usage: usageOf(reported) });
  write(response, 'message_stop');
  response.end();
}

export type SearchAnswer = (response: ServerResponse, isStream: boolean) => void;

export const report = (reported: ReportedSearches): SearchAnswer =>
  function answer(response, isStream) {
    if (!isStream) return answerWhole(response, reported);
    beginStream(response, [FOUND]);
    endStream(response, reported);
  };
