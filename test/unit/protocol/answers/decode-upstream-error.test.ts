import { describe, expect, it } from 'vitest';
import { decodeUpstreamError } from '../../../../src/protocol/answers/decode-upstream-error.ts';
import { encodeRefusal } from '../../../../src/protocol/chat/encode-refusal.ts';
import { UpstreamFailure } from '../../../../src/routing/upstream-failure.ts';

const SECRET = 'vendor-model of Vendor Inc.';

const decode = (status: number, body: unknown, retryAfter?: string) =>
  decodeUpstreamError({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    retryAfter,
  });
const DEAR =
  'This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford';
const MORE = 'To increase, visit https://a.b/credits and add more credits';
const LONG = 'Prompt tokens limit exceeded: 64128 >';

const native = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const chat = (code: string | null, message: string, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});

describe('an error of the request', () => {
  it.each([
    ['a native upstream', native('invalid_request_error', 'messages: x')],
    ['a chat upstream', chat(null, 'messages: x')],
    ['an error in a text', { error: 'messages: x' }],
    ['an error in a list', [{ error: { code: 400, message: 'messages: x' } }]],
    ['a message alone', { message: 'messages: x' }],
    ['a detail', { detail: 'messages: x' }],
    ['details', { detail: [{ loc: ['body'], msg: 'messages: x' }] }],
  ])('is sent in the words of %s', (_name, body) => {
    for (const status of [400, 422]) {
      expect(decode(status, body)).toMatchObject({
        refusal: 'invalid_request',
        message: 'messages: x',
        chatMessage: 'messages: x',
      });
    }
    expect(decode(413, body)).toMatchObject({ refusal: 'body_too_large', message: 'messages: x' });
  });

  it('names the field', () => {
    expect(decode(400, chat('invalid_value', 'Bad', 'tools[0]')).param).toBe('tools[0]');
  });

  it.each([
    ['content_filter', 'content_filter'],
    ['unsupported_parameter', 'unsupported_parameter'],
    [null, 'invalid_value'],
    ['Vendor-7', 'invalid_value'],
    ['x'.repeat(65), 'invalid_value'],
  ])('keeps a plain code for chat clients: %s', (code, expected) => {
    const refusal = decode(400, chat(code, 'Bad'));
    expect(refusal.chatCode).toBe(expected);
    expect(new UpstreamFailure('refused', refusal).chatCode).toBe(expected);
    expect(JSON.parse(encodeRefusal(refusal, 'req_1')).error.code).toBe(expected);
  });

  it('is sent in words of ours where the upstream has none', () => {
    for (const body of ['', '<html><h1>Bad Request</h1>', '[]', 'null', '{"error":{}}']) {
      expect(decode(400, body), body).toMatchObject({
        refusal: 'invalid_request',
        message: 'The upstream refused the request.',
      });
    }
  });

  it('is sent at no greater length than it takes', () => {
    expect(decode(400, native('x', 'y'.repeat(100_000))).message).toHaveLength(2_000);
    expect(decode(400, chat('x', 'y', 'z'.repeat(100_000))).param).toHaveLength(200);
  });

  it('about too long a prompt is sent so that clients of both formats know it', () => {
    const nativeText = 'prompt is too long: 205000 tokens > 200000 maximum';
    expect(decode(400, native('invalid_request_error', nativeText))).toMatchObject({
      refusal: 'context_too_long',
      message: nativeText,
    });
    const exceeded =
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again';
    expect(decode(400, native('invalid_request_error', exceeded))).toMatchObject({
      refusal: 'context_too_long',
      message: exceeded,
    });
    const chatText = "This model's maximum context length is 8192 tokens.";
    for (const code of ['context_length_exceeded', null]) {
      expect(decode(400, chat(code, chatText))).toMatchObject({
        refusal: 'context_too_long',
        message: `prompt is too long: ${chatText}`,
        chatMessage: chatText,
      });
    }
  });

  it.each([
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'the request exceeds the available context size, try increasing it',
    'Please reduce the length of the messages or completion.',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'invalid params, context window exceeds limit (2013)',
    'Input is too long for requested model.',
    'prompt token count of 150000 exceeds the limit of 128000',
    'prompt too long; exceeded max context length by 12 tokens',
  ])('knows too long a prompt in the words of a vendor: %s', (text) => {
    expect(decode(400, chat(null, text))).toMatchObject({
      refusal: 'context_too_long',
      message: `prompt is too long: ${text}`,
      chatMessage: text,
    });
  });

  it.each([
    'max_tokens exceeds the limit of 8192',
    'Too many tokens, please wait before trying again.',
  ])('does not take other complaints for too long a prompt: %s', (text) => {
    expect(decode(400, chat(null, text))).toMatchObject({ refusal: 'invalid_request' });
  });
});

describe('an error between the gateway and its upstream', () => {
  it.each([401, 402, 403, 404, 405, 409, 500, 502, 520])(
    'with the status %i is not the client’s, and says nothing of the upstream',
    (status) => {
      const plain = status < 500 ? 'upstream_denied' : 'upstream_broken';
      for (const [body, name] of [
        [native('not_found_error', `model: ${SECRET}`), 'upstream_denied'],
        [SECRET, plain],
        ['<html>', plain],
      ] as const) {
        const refusal = decode(status, body);
        expect(refusal).toMatchObject({
          refusal: name,
          status: 502,
          message: 'The upstream failed.',
          chatMessage: 'The upstream failed.',
          headers: {},
        });
      }
    },
  );

  it.each([
    [400, native('invalid_request_error', 'Your credit balance is too low to access the API.')],
    [400, native('billing_error', 'x')],
    [400, chat('invalid_api_key', 'x')],
    [400, chat('model_not_found', `The model ${SECRET} does not exist.`)],
    [400, { error: { message: 'API key not valid. Please pass a valid API key.' } }],
    [
      400,
      { error: 'Incorrect API key provided: x***y. You can obtain an API key from https://a.b.' },
    ],
    [429, chat('insufficient_quota', 'You exceeded your current quota, check your plan.')],
  ])('is one whatever its status: %i %j', (status, body) => {
    expect(decode(status, body)).toMatchObject({
      refusal: 'upstream_denied',
      message: 'The upstream failed.',
    });
  });

  it.each([
    ['account', 401, ''],
    ['account', 402, ''],
    ['account', 402, { error: { code: 402, message: `${DEAR} 0. ${MORE}` } }],
    ['account', 402, { error: { code: 402, message: `${LONG} 0. ${MORE}` } }],
    ['account', 402, { error: { code: 402, message: `No credits for: ${DEAR} 5000.` } }],
    ['account', 429, chat('insufficient_quota', 'x')],
    ['account', 429, { error: { message: 'You exceeded your current quota.' } }],
    ['account', 500, native('authentication_error', 'x')],
    ['request', 402, { error: { code: 402, message: `${DEAR} 5000. ${MORE}` } }],
    ['request', 402, { error: { code: 402, message: `${LONG} 6964. ${MORE}` } }],
    ['request', 403, native('permission_error', 'Blocked, for your API key not valid')],
    ['request', 404, native('not_found_error', 'model: x')],
    ['request', 400, chat('model_not_found', 'x')],
    ['request', 400, chat('invalid_api_key', 'x')],
    ['request', 400, native('invalid_request_error', 'invalid x-api-key')],
    ['request', 405, ''],
    [undefined, 429, chat('rate_limit_exceeded', 'Rate limit reached for your API key')],
    [undefined, 500, { error: { message: "KeyError: 'api_key'" } }],
  ])('is about our %s only where no request can be the cause: %i %j', (denial, status, body) => {
    expect(decode(status, body).denial).toBe(denial);
  });
});

describe('an error that quotes the client', () => {
  it.each([
    'messages.0.api_key: Extra inputs are not permitted',
    'Unrecognized request argument supplied: api_key',
    "metadata: 'your current quota' is too long",
    'plan & billing: Extra inputs are not permitted',
  ])('is one of the request: %s', (message) => {
    for (const status of [400, 422]) {
      const refusal = decode(status, native('invalid_request_error', message));
      expect(refusal).toMatchObject({ refusal: 'invalid_request', message });
      expect(refusal.denial).toBeUndefined();
    }
  });

  it.each([
    'API key not valid. Please pass a valid API key.: Extra inputs are not permitted',
    'Unrecognized request argument supplied: invalid x-api-key',
    "tools.0.name: 'Your credit balance is too low to access the Anthropic API.'",
  ])('with words about our account may be served elsewhere, else is sent: %s', (message) => {
    expect(decode(400, native('invalid_request_error', message))).toMatchObject({
      refusal: 'invalid_request',
      message,
      denial: 'request',
    });
  });
});

describe('an upstream that has too much to do', () => {
  it.each([429, 503, 529])('with the status %i says when to come again', (status) => {
    const refusal = decode(status, native('rate_limit_error', SECRET), '7');
    expect(refusal).toMatchObject({
      refusal: 'upstream_overloaded',
      status: 529,
      chatStatus: 503,
      message: 'Overloaded',
      headers: { 'retry-after': '7' },
    });
  });

  it.each([
    ['0', '1'],
    ['0.2', '1'],
    ['3600', '59'],
    [' 12 ', '12'],
    ['Fri, 31 Dec 2100 23:59:59 GMT', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('and says %j has its clients wait for %j', (retryAfter, expected) => {
    expect(decode(529, '', retryAfter).headers['retry-after']).toBe(expected);
  });

  it.each([408, 504, 524])('or takes too long: %i', (status) => {
    expect(decode(status, SECRET)).toMatchObject({
      refusal: 'answer_too_slow',
      message: 'The upstream took too long.',
    });
  });
});
