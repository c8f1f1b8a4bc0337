import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { chatRequestSchema } from '../../../../../src/protocol/chat/requests/request-schema.ts';
import type { DecodedRequest } from '../../../../../src/protocol/format.ts';

type Body = Readonly<Record<string, unknown>>;

const minimal = { model: 'opus', messages: [{ role: 'user', content: 'Hello' }] };
const tool = (name: string) => ({ type: 'function', function: { name } });

function decode(body: unknown, headers: Readonly<Record<string, string>> = {}): DecodedRequest {
  return chatFormat.decodeRequest(body, (name) => headers[name]);
}

const decodeWith = (fields: Body) => decode({ ...minimal, ...fields }).request;

describe('the fields of a chat request', () => {
  it.each<[Body, Body]>([
    [{}, { outputTokensMax: undefined, temperature: undefined, topP: undefined, isStream: false }],
    [{ max_tokens: 5 }, { outputTokensMax: 5 }],
    [{ max_completion_tokens: 6 }, { outputTokensMax: 6 }],
    [{ max_completion_tokens: 6, max_tokens: 5 }, { outputTokensMax: 5 }],
    [{ max_completion_tokens: 5, max_tokens: 6 }, { outputTokensMax: 5 }],
    [{ max_completion_tokens: 6, max_tokens: null }, { outputTokensMax: 6 }],
    [{ max_completion_tokens: null, max_tokens: 5 }, { outputTokensMax: 5 }],
    [{ temperature: 0 }, { temperature: 0 }],
    [{ temperature: 0.7 }, { temperature: 0.7 }],
    [{ temperature: 2 }, { temperature: 2 }],
    [{ top_p: 0 }, { topP: 0 }],
    [{ stop: 'END' }, { stopSequences: ['END'] }],
    [{ stop: ['a', '\n', '', 'b'] }, { stopSequences: ['a', '\n', 'b'] }],
    [{ stop: '' }, { stopSequences: [] }],
    [{ stream: true }, { isStream: true }],
    [{ user: 'u' }, { passedOn: { metadata: { user_id: 'u' } } }],
    [{ safety_identifier: 's' }, { passedOn: { metadata: { user_id: 's' } } }],
    [{ user: 'u', safety_identifier: 's' }, { passedOn: { metadata: { user_id: 'u' } } }],
    [{ user: '', safety_identifier: 's' }, { passedOn: { metadata: { user_id: 's' } } }],
    [{ user: '' }, { passedOn: {} }],
    [{ metadata: { user_id: 'm' } }, { passedOn: {} }],
    [{ n: 1 }, { passedOn: {} }],
    [{ reasoning_effort: 'high' }, { isThinking: false, thinkingTokensMax: undefined }],
    [{ response_format: { type: 'text' } }, { outputSchema: undefined }],
    [{ response_format: { type: 'json_object' } }, { outputSchema: true }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { x: 1 } } } },
      { outputSchema: { x: 1 } },
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'a' } } },
      { outputSchema: true },
    ],
  ])('are mapped to native ones [%j]', (fields, expected) => {
    expect(decodeWith(fields)).toMatchObject(expected);
  });

  it.each([
    [undefined, false],
    [null, false],
    [{}, false],
    [{ include_usage: null }, false],
    [{ include_usage: true }, true],
  ])('ask for the usage in a stream [%j]', (options, expected) => {
    const body = { ...minimal, ...(options !== undefined && { stream_options: options }) };
    expect(decode(body).wantsStreamUsage).toBe(expected);
  });

  it.each([
    [{}, false],
    [{ 'llm-beta': 'context-1m-2025-08-07' }, true],
    [{ 'anthropic-beta': 'other, context-1m' }, true],
  ])('come with a wide context by header [%j]', (headers, expected) => {
    expect(decode(minimal, headers).request.isBetaContext).toBe(expected);
  });

  it('are published with everything they may be', () => {
    expect(chatRequestSchema.json).toMatchObject({
      type: 'object',
      required: ['model', 'messages'],
      properties: { seed: {}, stream: {}, reasoning_effort: {} },
    });
  });
});

describe('the tools of a chat request', () => {
  it.each<[string, Body, Body]>([
    ['none', {}, { tools: [], toolChoice: undefined }],
    [
      'without parameters',
      { tools: [tool('a')] },
      {
        tools: [{ name: 'a', input_schema: { type: 'object', properties: {} } }],
        toolChoice: undefined,
      },
    ],
    [
      'with null in optional fields',
      {
        tools: [
          {
            type: 'function',
            function: { name: 'a', description: null, parameters: null, strict: null },
          },
        ],
      },
      { tools: [{ name: 'a', input_schema: { type: 'object', properties: {} } }] },
    ],
    [
      'with parameters of no stated type',
      { tools: [{ type: 'function', function: { name: 'a', parameters: { $ref: '#/x' } } }] },
      { tools: [{ name: 'a', input_schema: { type: 'object', properties: {}, $ref: '#/x' } }] },
    ],
    ['auto', { tools: [tool('a')], tool_choice: 'auto' }, { toolChoice: { type: 'auto' } }],
    ['none at all', { tools: [tool('a')], tool_choice: 'none' }, { toolChoice: { type: 'none' } }],
    ['required', { tools: [tool('a')], tool_choice: 'required' }, { toolChoice: { type: 'any' } }],
    [
      'one by name',
      { tools: [tool('a')], tool_choice: tool('a') },
      { toolChoice: { type: 'tool', name: 'a' } },
    ],
    [
      'one at a time',
      { tools: [tool('a')], parallel_tool_calls: false },
      { toolChoice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [
      'one by name and at a time',
      { tools: [tool('a')], tool_choice: tool('a'), parallel_tool_calls: false },
      { toolChoice: { type: 'tool', name: 'a', disable_parallel_tool_use: true } },
    ],
    [
      'many at a time',
      { tools: [tool('a')], parallel_tool_calls: true },
      { toolChoice: undefined },
    ],
    [
      'none at all and one at a time',
      { tools: [tool('a')], tool_choice: 'none', parallel_tool_calls: false },
      { toolChoice: { type: 'none' } },
    ],
    [
      'only some allowed',
      {
        tools: [tool('a'), tool('b')],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [tool('b')] },
        },
      },
      { tools: [{ name: 'b' }], toolChoice: { type: 'any' } },
    ],
    ['a choice among none', { tools: [], tool_choice: 'auto' }, { toolChoice: undefined }],
    ['functions', { functions: [{ name: 'a' }] }, { tools: [{ name: 'a' }] }],
    [
      'a function that has to be called',
      { functions: [{ name: 'a' }], function_call: { name: 'a' } },
      { toolChoice: { type: 'tool', name: 'a' } },
    ],
    [
      'functions that must not be called',
      { functions: [{ name: 'a' }], function_call: 'none' },
      { toolChoice: { type: 'none' } },
    ],
  ])('are mapped to native ones [%s]', (_name, fields, expected) => {
    expect(decodeWith(fields)).toMatchObject(expected);
  });

  it('leave out a description that there is none of', () => {
    expect(decodeWith({ tools: [tool('a')] }).tools[0]).not.toHaveProperty('description');
  });
});

it('makes instructions alone a message of the user', () => {
  const system = { role: 'system', content: 'Be brief.' };
  const developer = { role: 'developer', content: 'Say hello.' };
  expect(decodeWith({ messages: [system, developer] })).toMatchObject({
    system: undefined,
    messages: [{ role: 'user', content: 'Be brief.\nSay hello.' }],
  });
});

describe('a chat request that is wrong', () => {
  const part = (value: unknown) => ({ messages: [{ role: 'user', content: [value] }] });
  const image = (url: string) => part({ type: 'image_url', image_url: { url } });
  const url = 'messages[0].content[0].image_url.url';

  it.each<[Body, string, string]>([
    [{ model: 5 }, 'model', 'Input should be a valid string'],
    [{ messages: 'Hello' }, 'messages', 'Input should be a valid list'],
    [{ messages: [] }, 'messages', 'List should have at least 1 item'],
    [
      { messages: [{ role: 'system', content: ' ' }] },
      'messages',
      'At least one message should say something',
    ],
    [
      { messages: [{ role: 'robot', content: 'a' }] },
      'messages[0].role',
      "Input should be 'developer', 'system', 'user', 'assistant', 'tool' or 'function'",
    ],
    [{ temperature: 2.1 }, 'temperature', 'Input should be less than or equal to 2'],
    [{ temperature: -1 }, 'temperature', 'Input should be greater than or equal to 0'],
    [{ top_p: 1.1 }, 'top_p', 'Input should be less than or equal to 1'],
    [{ n: 2 }, 'n', 'this is not sold here: each further answer is billed; leave it out, or say 1'],
    [{ max_tokens: 0 }, 'max_tokens', 'Input should be greater than or equal to 1'],
    [{ max_completion_tokens: 1.5 }, 'max_completion_tokens', 'Input should be a valid integer'],
    [{ stop: Array(65).fill('a') }, 'stop', 'List should have at most 64 items'],
    [{ stream: 'yes' }, 'stream', 'Input should be a valid boolean'],
    [{ tools: [{ type: 'custom' }] }, 'tools[0].type', "Input should be 'function'"],
    [
      { tools: [tool('a b')] },
      'tools[0].function.name',
      "String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      { tools: [tool('a'.repeat(65))] },
      'tools[0].function.name',
      'String should have at most 64 characters',
    ],
    [{ tool_choice: 'any' }, 'tool_choice', "Input should be 'none', 'auto' or 'required'"],
    [{ tool_choice: 'required' }, 'tool_choice', 'It is only allowed when tools are specified'],
    [
      { function_call: { name: 'f' } },
      'function_call',
      'It is only allowed when tools are specified',
    ],
    [
      { tool_choice: { type: 'custom', custom: { name: 'a' } } },
      'tool_choice.type',
      "Input should be 'function' or 'allowed_tools'",
    ],
    [
      { response_format: { type: 'xml' } },
      'response_format.type',
      "Input should be 'text', 'json_object' or 'json_schema'",
    ],
    [
      part({ type: 'input_audio', input_audio: {} }),
      'messages[0].content[0].type',
      "Input should be 'text', 'image_url' or 'file'",
    ],
    ...[{}, { file_id: 'file-1' }, { file_data: 'data:text/plain;base64,aGk=' }].map(
      (file): [Body, string, string] => [
        part({ type: 'file', file }),
        'messages[0].content[0].file.file_data',
        'Input should be a data URL of application/pdf in base64, or an http(s) URL of a PDF; files by id are not supported',
      ],
    ),
    [
      part({ type: 'file', file: { file_data: 'https://h/a.pdf', file_id: 'file-1' } }),
      'messages[0].content[0].file.file_id',
      'files by id are not supported',
    ],
    [image('ftp://a/b.png'), url, 'Input should be an http(s) URL or a data URL in base64'],
    [image('data:image/png,abc'), url, 'Input should be an http(s) URL or a data URL in base64'],
    [image('data:image/png;base64'), url, 'Input should be an http(s) URL or a data URL in base64'],
    [
      image('data:image/bmp;base64,Qk0='),
      url,
      'The image should be one of image/jpeg, image/png, image/gif, image/webp',
    ],
    [
      { messages: [{ role: 'function', name: 'f', content: 'a' }] },
      'messages[0].role',
      "A 'function' message should follow a message with 'function_call'",
    ],
  ])('is refused with the field and the reason [%j]', (fields, param, reason) => {
    expect(() => decodeWith(fields)).toThrow(
      expect.objectContaining({
        refusal: 'invalid_request',
        status: 400,
        param,
        message: `Invalid value for '${param}': ${reason}.`,
      }),
    );
  });

  it.each<[unknown, string]>([
    [{ messages: minimal.messages }, 'model'],
    [{ model: 'opus' }, 'messages'],
    [{ model: 'opus', messages: [{ content: 'a' }] }, 'messages[0].role'],
    [{ model: 'opus', messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ ...minimal, tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ ...minimal, tools: [{ function: { name: 'a' } }] }, 'tools[0].type'],
    [{ model: 'opus', messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].tool_call_id'],
  ])('gets the name of the field it lacks [%j]', (body, param) => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({
        refusal: 'missing_field',
        param,
        message: `Missing required parameter: '${param}'.`,
      }),
    );
  });

  it.each([null, [], 'text', 7, true])('is refused when it is no object [%j]', (body) => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({ refusal: 'invalid_request', param: null }),
    );
  });
});
