import { describe, expect, it } from 'vitest';
import { nativeFormat } from '../../../../../src/protocol/native/native-format.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { REFUSED } from '../refused-requests.ts';
import {
  assistant,
  BODY,
  cached,
  image,
  MESSAGES,
  result,
  text,
  use,
  user,
} from '../request-parts.ts';

const decode = (body: unknown) =>
  nativeFormat.decodeRequest(body, (name) => (name === 'llm-version' ? '2023-06-01' : undefined));

function refusalOf(body: unknown): Refusal | undefined {
  try {
    decode(body);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

describe('a budget for the thoughts between calls of tools', () => {
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  const thinking = { type: 'enabled', budget_tokens: 30_000 };
  const decodeWith = (betas: string, more: object) =>
    nativeFormat.decodeRequest({ ...BODY, thinking, ...more }, (name) =>
      name === 'llm-version' ? '2023-06-01' : name === 'anthropic-beta' ? betas : undefined,
    );

  it('may exceed the maximum of output tokens, which stays what it is', () => {
    const { request } = decodeWith('of-tomorrow,interleaved-thinking-2025-05-14', { tools });
    expect(request).toMatchObject({
      outputTokensMax: BODY.max_tokens,
      passedOn: { thinking },
      thinkingTokensMax: 30_000,
    });
  });

  it('may not without tools, or without asking for such thoughts', () => {
    const says = '`max_tokens` must be greater than `thinking.budget_tokens`.';
    expect(() => decodeWith('interleaved-thinking-2025-05-14', {})).toThrow(says);
    expect(() => decodeWith('of-tomorrow', { tools })).toThrow(says);
  });
});

describe('a native request that breaks a rule', () => {
  for (const [i, { says, param, to }] of REFUSED.entries()) {
    it(`is refused with "${says}" [${i}]`, () => {
      const refusal = refusalOf(to);
      expect(refusal?.message).toBe(says);
      expect(refusal?.param).toBe(param);
      expect(refusal?.refusal).toBe(
        says.endsWith(': Field required') ? 'missing_field' : 'invalid_request',
      );
    });
  }

  it('is refused in few words, however long and many the ids in it', () => {
    const long = 'x'.repeat(250);
    const uses = Array.from({ length: 10_000 }, (_, i) => use(`${long}${i}`));
    const refusal = refusalOf({ ...BODY, messages: [...MESSAGES, assistant(...uses)] });
    expect(refusal?.message.length).toBeLessThan(10_000);
  });

  it('is refused before anything in it is read when it is no object', () => {
    expect(refusalOf([])?.message).toBe('Input should be a valid dictionary');
  });
});

describe('a native request', () => {
  const taken: Readonly<Record<string, unknown>> = {
    'may end with an empty answer to go on with': {
      messages: [...MESSAGES, { role: 'assistant', content: '' }],
    },
    'may give its results in several messages with a word of the system between': {
      messages: [
        ...MESSAGES,
        assistant(use('X'), use('Y')),
        { role: 'system', content: 'Mind the gap.' },
        user(result('Y')),
        user(result('X')),
      ],
    },
    'may bring back a text of white space that a model wrote': {
      messages: [...MESSAGES, assistant(text('\n\n'), use('X')), user(result('X'))],
    },
    'may mark its last block and the whole request for the cache at once': {
      ...cached(),
      messages: [user(...['a', 'b', 'c', 'd'].map((word) => text(word, cached())))],
    },
    'may keep what comes first for longer': {
      system: [text('Be brief.', cached('1h'))],
      messages: [user(text('a', cached('5m')))],
    },
    'may set a temperature while thinking is off': {
      thinking: { type: 'disabled' },
      temperature: 0.2,
    },
    'may think in a way that nobody here knows': { thinking: { type: 'of_tomorrow' } },
    'may have an image of just the largest size': {
      messages: [user(image('image/webp', 'A'.repeat(5 * 1024 * 1024)))],
    },
    'may offer several sets of tools, which have no names': {
      tools: [{ type: 'computer_toolset_20260801' }, { type: 'browser_toolset_20260801' }],
      tool_choice: { type: 'any' },
    },
    'may answer a tool with nothing': {
      messages: [...MESSAGES, assistant(use('X')), user({ type: 'tool_result', tool_use_id: 'X' })],
    },
  };
  for (const [name, change] of Object.entries(taken)) {
    it(name, () => {
      expect(refusalOf({ ...BODY, ...(change as object) })).toBeUndefined();
    });
  }

  it('keeps a field named like a prototype as plain data', () => {
    const body: unknown = JSON.parse(
      `{"model":"sonnet","max_tokens":1,"messages":[{"role":"user","content":"Hello"}],"__proto__":{"stream":true}}`,
    );
    const { request } = decode(body);
    expect(request.isStream).toBe(false);
    expect(JSON.stringify(request.passedOn)).toBe('{"__proto__":{"stream":true}}');
  });
});
