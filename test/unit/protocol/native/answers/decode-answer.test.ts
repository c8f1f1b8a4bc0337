import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeNativeAnswer } from '../../../../../src/protocol/native/answers/decode-answer.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { collectAnswer } from '../../../../contract/read-meaning.ts';

const FIXTURES = new URL('../../../../fixtures/', import.meta.url);
const answer = (fields: object) =>
  JSON.stringify({ id: 'msg_1', model: 'm', content: [], stop_reason: 'end_turn', ...fields });

describe('the decoder of native answers', () => {
  for (const file of readdirSync(new URL('native/answers/', FIXTURES))) {
    it(`reads ${file}`, () => {
      const body = readFileSync(new URL(`native/answers/${file}`, FIXTURES), 'utf8');
      const scenario = JSON.parse(readFileSync(new URL(`scenarios/${file}`, FIXTURES), 'utf8'));
      expect(collectAnswer(decodeNativeAnswer(body))).toEqual(scenario.answer);
    });
  }

  it('leaves out blocks that it does not know', () => {
    const content = [
      { type: 'server_tool_use', id: 's', name: 'n', input: {} },
      { type: 'text', text: 'Hi', citations: [{}] },
    ];
    expect(collectAnswer(decodeNativeAnswer(answer({ content }))).content).toEqual([
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('reads how long what was cached is kept', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      cache_read_input_tokens: null,
      output_tokens: 2,
      output_tokens_details: { thinking_tokens: 1 },
    };
    expect(decodeNativeAnswer(answer({ usage })).at(-1)).toMatchObject({
      usage: {
        input: 1,
        cacheRead: 0,
        cacheWrite5m: 10,
        cacheWrite1h: 20,
        output: 2,
        thinking: 1,
        searches: 0,
      },
    });
  });

  it.each([
    [50, undefined, { 5: 50, 60: 0 }, 50],
    [50, { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, { 5: 50, 60: 0 }, 50],
    [50, { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 }, { 5: 30, 60: 20 }, 20],
    [50, { ephemeral_5m_input_tokens: 10 }, { 5: 50, 60: 0 }, 40],
    [50, { ephemeral_1h_input_tokens: 20 }, { 5: 30, 60: 20 }, 30],
    [50, { ephemeral_5m_input_tokens: 50 }, { 5: 50, 60: 0 }, undefined],
    [0, { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 }, { 5: 10, 60: 20 }],
    [undefined, { ephemeral_5m_input_tokens: 10 }, { 5: 10, 60: 0 }],
  ])(
    'takes all of the %s that were cached for the shorter time, but what is said to be kept longer, and says of how many nobody reported the time: %o',
    (written, cache_creation, kept, untimedWrite?: number) => {
      const usage = {
        ...{ input_tokens: 1, output_tokens: 2 },
        ...{ cache_creation_input_tokens: written, cache_creation },
      };
      const finish = decodeNativeAnswer(answer({ usage })).at(-1);
      expect(finish).toMatchObject({ usage: { cacheWrite5m: kept[5], cacheWrite1h: kept[60] } });
      expect(finish?.type === 'finish' && finish.usage?.untimedWrite).toBe(untimedWrite);
    },
  );

  it('says that nobody reported the usage', () => {
    for (const usage of [undefined, null, {}, { input_tokens: null }]) {
      expect(decodeNativeAnswer(answer({ usage })).at(-1)).toMatchObject({ usage: undefined });
    }
  });

  it('refuses what is no answer', () => {
    const bodies = [
      '',
      '<html>',
      'null',
      '{}',
      answer({ id: 1 }),
      answer({ content: 'Hi' }),
      answer({ content: [null] }),
      answer({ content: [{ type: 'tool_use' }] }),
      answer({}).replace('[]', `[${'['.repeat(5_000)}${']'.repeat(5_000)}]`),
      JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }),
    ];
    for (const body of bodies) {
      expect(() => decodeNativeAnswer(body), body.slice(0, 80)).toThrow(Refusal);
    }
  });
});
