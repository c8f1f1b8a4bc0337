import { createHmac } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CleanUp } from '../create-temp-dir.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface VendorRequest {
  readonly vendor: string;
  readonly path: string;
  readonly body: Fields;
}

export interface ThinkingVendors {
  readonly url: string;
  readonly requests: VendorRequest[];
  /** A vendor that is out refuses everything. */
  setOut(vendor: string, isOut: boolean): void;
}

/** What stands under the name of a vendor in the path: `/VENDOR/messages`. */
type Answering = (request: VendorRequest, response: ServerResponse) => void;

const THOUGHT = 'The weather has to be looked up.';
const CALL = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
export const VERIFIED = 'It is 7 degrees; my thoughts came back.';
export const UNTHOUGHT = 'It is 7 degrees; I do not know what I thought.';

/**
 * Vendors whose models think, call `get_weather` and then want their thoughts back as they told
 * them. Each vendor signs with a secret of its own, and refuses what another one signed.
 */
export async function startThinkingVendors(
  cleanUp: CleanUp,
  others: Readonly<Record<string, Answering>> = {},
): Promise<ThinkingVendors> {
  const requests: VendorRequest[] = [];
  const out = new Set<string>();
  const server = createServer(async (incoming, response) => {
    const body = JSON.parse((await incoming.toArray()).join('') || '{}');
    const [, vendor = '', path = ''] = /^\/([\w-]+)\/([\w/]+)$/.exec(incoming.url ?? '') ?? [];
    const request = { vendor, path, body };
    requests.push(request);
    const answering = others[vendor] ?? ANSWERINGS[path] ?? answerResponses;
    if (out.has(vendor)) sendJson(response, 503, { error: { message: 'Out', type: 'overloaded' } });
    else answering(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    setOut(vendor, isOut) {
      if (isOut) out.add(vendor);
      else out.delete(vendor);
    },
  };
}

function sign(vendor: string, text: string): string {
  return createHmac('sha256', `secret of ${vendor}`).update(text).digest('base64');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function sendEvents(response: ServerResponse, events: readonly Fields[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** It sends no thoughts and wants none back. */
function answerChat({ body }: VendorRequest, response: ServerResponse): void {
  const isLoop = itemsOf(body['messages']).some(({ role }) => role === 'tool');
  const call = { id: 'call_4k2xq9wz', type: 'function', function: CALL };
  const said = isLoop ? { content: UNTHOUGHT } : { content: null, tool_calls: [call] };
  const ending = isLoop ? 'stop' : 'tool_calls';
  const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };
  const answer = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'vendor-name', usage };
  if (body['stream'] !== true) {
    const message = { role: 'assistant', ...said };
    sendJson(response, 200, { ...answer, choices: [{ index: 0, message, finish_reason: ending }] });
    return;
  }
  const delta = isLoop ? said : { tool_calls: [{ index: 0, ...call }] };
  const choices = [{ index: 0, delta, finish_reason: ending }];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify({ ...answer, choices })}\n\ndata: [DONE]\n\n`);
}

const ANSWERINGS: Readonly<Record<string, Answering>> = {
  messages: answerNative,
  'chat/completions': answerChat,
};

const itemsOf = (list: unknown) => (Array.isArray(list) ? list : []) as Fields[];

function answerNative({ vendor, body }: VendorRequest, response: ServerResponse): void {
  const blocks = itemsOf(body['messages']).flatMap(({ content }) => itemsOf(content));
  const thoughts = blocks.filter(({ type }) => type === 'thinking');
  const isLoop = blocks.some(({ type }) => type === 'tool_result');
  const refused = refuseThoughts({ vendor, body }, thoughts, isLoop);
  if (refused !== undefined) {
    const error = { type: 'invalid_request_error', message: refused };
    sendJson(response, 400, { type: 'error', error });
    return;
  }
  const content = isLoop
    ? [{ type: 'text', text: thoughts.length > 0 ? VERIFIED : UNTHOUGHT }]
    : [
        { type: 'thinking', thinking: THOUGHT, signature: sign(vendor, THOUGHT) },
        { type: 'tool_use', id: 'toolu_1', name: CALL.name, input: JSON.parse(CALL.arguments) },
      ];
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor-name', content },
    ...{ stop_reason: isLoop ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { input_tokens: 20, output_tokens: 10 },
  };
  if (body['stream'] === true) sendEvents(response, streamMessage(message));
  else sendJson(response, 200, message);
}

/** Only thinking with a budget has to begin with a thought. */
function refuseThoughts(
  { vendor, body }: Pick<VendorRequest, 'vendor' | 'body'>,
  thoughts: readonly Fields[],
  isLoop: boolean,
): string | undefined {
  const isForged = thoughts.some(
    ({ thinking, signature }) => signature !== sign(vendor, String(thinking)),
  );
  if (isForged) return 'messages.1.content.0: Invalid `signature` in `thinking` block';
  const areBeside = itemsOf(body['messages']).some(({ content }) =>
    itemsOf(content).some(
      ({ type }, i, { [i - 1]: before }) => type === 'thinking' && before?.['type'] === type,
    ),
  );
  if (areBeside) {
    return 'messages.1.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.';
  }
  const mode = (body['thinking'] as Fields | undefined)?.['type'];
  return isLoop && thoughts.length === 0 && mode === 'enabled'
    ? 'messages.1.content.0.type: Expected `thinking`, but found `tool_use`'
    : undefined;
}

function streamMessage(message: { content: Fields[]; usage: object } & Fields): Fields[] {
  const pieces = message.content.flatMap((block, index) => {
    const { type, text, thinking, signature, input } = block;
    const deltas: Fields[] = [];
    if (type === 'text') deltas.push({ type: 'text_delta', text });
    if (type === 'thinking') {
      deltas.push({ type: 'thinking_delta', thinking }, { type: 'signature_delta', signature });
    }
    if (type === 'tool_use') {
      deltas.push({ type: 'input_json_delta', partial_json: JSON.stringify(input) });
    }
    const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' } }[
      String(type)
    ] ?? { input: {} };
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...empty } },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    ...pieces,
    {
      type: 'message_delta',
      delta: { stop_reason: message['stop_reason'], stop_sequence: null },
      usage: message.usage,
    },
    { type: 'message_stop' },
  ];
}

const RESPONSES_USAGE = {
  ...{ input_tokens: 30, input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 } },
  ...{ output_tokens: 12, output_tokens_details: { reasoning_tokens: 4 }, total_tokens: 42 },
};

function answerResponses({ vendor, body }: VendorRequest, response: ServerResponse): void {
  const items = itemsOf(body['input']);
  const thoughts = items.filter(({ type }) => type === 'reasoning');
  const isLoop = items.some(({ type }) => type === 'function_call_output');
  const encrypted = sign(vendor, 'rs_vendor');
  const isForeign = thoughts.some(
    (item) => item['encrypted_content'] !== encrypted || item['id'] !== 'rs_vendor',
  );
  const refuse = (message: string, code: string, param: string | null) =>
    sendJson(response, 400, { error: { message, type: 'invalid_request_error', code, param } });
  if (isForeign || body['store'] !== false) {
    refuse('Not ours', 'invalid_encrypted_content', null);
    return;
  }
  const withStatus = items.findIndex((item) => item['type'] === 'reasoning' && 'status' in item);
  if (withStatus !== -1) {
    const param = `input[${withStatus}].status`;
    refuse(`Unknown parameter: '${param}'.`, 'unknown_parameter', param);
    return;
  }
  const hasAsked = String(body['include']).includes('reasoning.encrypted_content');
  const carried = { encrypted_content: hasAsked ? encrypted : null };
  const output: Fields[] = isLoop
    ? [messageItem(thoughts.length > 0 ? VERIFIED : UNTHOUGHT)]
    : [
        {
          ...{ type: 'reasoning', id: 'rs_vendor', ...carried },
          summary: [{ type: 'summary_text', text: THOUGHT }],
        },
        {
          type: 'function_call',
          id: 'fc_vendor',
          call_id: 'call_4k2xq9wz',
          status: 'completed',
          ...CALL,
        },
      ];
  if (body['stream'] === true) sendEvents(response, streamResponse(output));
  else sendJson(response, 200, responseOf({ output, usage: RESPONSES_USAGE }));
}

function messageItem(text: string): Fields {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { type: 'message', id: 'msg_vendor', status: 'completed', role: 'assistant', content };
}

/** A response of a vendor, with fields that nobody here knows. */
export function responseOf(fields: Fields): Fields {
  return {
    ...{ id: 'resp_vendor', object: 'response', created_at: 1_760_000_000, status: 'completed' },
    ...{ model: 'vendor-name', error: null, incomplete_details: null, store: false },
    ...{ output: [], usage: null, vendor_field: { kept: true }, ...fields },
  };
}

/** The events of a vendor that tell these items. */
function streamResponse(output: readonly Fields[], usage: unknown = RESPONSES_USAGE): Fields[] {
  const begun = responseOf({ status: 'in_progress' });
  const events: Fields[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap(streamItem),
    { type: 'response.completed', response: responseOf({ output, usage }) },
  ];
  return events.map((event, i) => ({ ...event, sequence_number: i }));
}

function streamItem(item: Fields, output_index: number): Fields[] {
  const at = { output_index, item_id: item['id'] };
  const pieces: Fields[] = [];
  if (item['type'] === 'message') {
    const place = { ...at, content_index: 0 };
    const [part = {}] = itemsOf(item['content']);
    pieces.push({ type: 'response.content_part.added', ...place, part: { ...part, text: '' } });
    for (const delta of String(part['text']).split(/(?= )/)) {
      const more = { logprobs: [], obfuscation: 'x'.repeat(delta.length) };
      pieces.push({ type: 'response.output_text.delta', ...place, delta, ...more });
    }
    pieces.push({ type: 'response.output_text.done', ...place, text: part['text'] });
    pieces.push({ type: 'response.content_part.done', ...place, part });
  } else if (item['type'] === 'reasoning') {
    const place = { ...at, summary_index: 0 };
    const [part = {}] = itemsOf(item['summary']);
    pieces.push({
      type: 'response.reasoning_summary_part.added',
      ...place,
      part: { ...part, text: '' },
    });
    pieces.push({ type: 'response.reasoning_summary_text.delta', ...place, delta: part['text'] });
    pieces.push({ type: 'response.reasoning_summary_text.done', ...place, text: part['text'] });
    pieces.push({ type: 'response.reasoning_summary_part.done', ...place, part });
  } else {
    const json = item['arguments'];
    pieces.push({ type: 'response.function_call_arguments.delta', ...at, delta: json });
    pieces.push({ type: 'response.function_call_arguments.done', ...at, arguments: json });
  }
  const empty = { message: { content: [] }, reasoning: { summary: [] } }[String(item['type'])];
  const added = { ...item, status: 'in_progress', ...(empty ?? { arguments: '' }) };
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...pieces,
    { type: 'response.output_item.done', output_index, item },
  ];
}
