import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../../src/gateway/read-request.ts';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import {
  EDIT_RULES,
  FIELD_RULES,
  TOOL_RULES,
} from '../../../../src/protocol/fields/field-rules.ts';
import type { Format } from '../../../../src/protocol/format.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { dialectOf } from '../../../../src/upstream/upstream-dialect.ts';

const FORMATS = [nativeFormat, chatFormat];
const BODY = { model: 'opus', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);

/** The fields that an upstream of the same format gets. */
function send(format: Format, fields: object): Record<string, unknown> {
  const body = Buffer.from(JSON.stringify({ ...BODY, ...fields }));
  const { request, readWhole, source } = readRequest(body, format, header, true);
  const call = { request, readWhole, source, isStream: false, outputTokensMax: 5 };
  const dialect = dialectOf(format === nativeFormat ? 'native' : 'chat');
  return JSON.parse(String(dialect.encodeRequest(call, 'sold', undefined)));
}

const refusalOf = (param: string) => expect.objectContaining({ status: 400, param });

describe.each(FORMATS)('a $name request', (format) => {
  for (const { field, passes, others } of FIELD_RULES) {
    it(`with ${field} sends only what costs no more than without it`, () => {
      for (const value of [...passes, null, []]) {
        const sent = send(format, { [field]: value });
        if (others === 'dropped') expect(sent).not.toHaveProperty(field);
        else if (value !== null && passes.includes(value)) expect(sent[field]).toEqual(value);
      }
      for (const value of ['fast', 2, true, {}, ['x'], [{ model: 'x' }]]) {
        if (others === 'dropped')
          expect(send(format, { [field]: value })).not.toHaveProperty(field);
        else expect(() => send(format, { [field]: value })).toThrow(refusalOf(field));
      }
    });
  }

  it('has one maximum of output tokens, whatever a server of models calls it', () => {
    const maxima = { n_predict: 32_000, max_length: 32_000, max_gen_len: 32_000 };
    expect(send(format, { ...maxima, auto_max_new_tokens: true })).toMatchObject({ max_tokens: 5 });
    for (const name of [...Object.keys(maxima), 'auto_max_new_tokens']) {
      expect(send(format, { [name]: 32_000 }), name).not.toHaveProperty(name);
    }
    expect(() => send(format, { n_cmpl: 2 })).toThrow(refusalOf('n_cmpl'));
  });

  it('asks for no search, whatever a vendor calls it', () => {
    for (const name of ['web_search', 'enable_enhancement', 'force_search_enhancement']) {
      expect(send(format, { [name]: false }), name).toHaveProperty(name, false);
      for (const value of [true, {}, { enable: true, search_mode: 'required' }]) {
        expect(() => send(format, { [name]: value }), name).toThrow(refusalOf(name));
      }
    }
  });

  it('may say as an object that it asks for no search', () => {
    const off = { enable: false };
    expect(send(format, { web_search: off })).toHaveProperty('web_search', off);
    for (const value of [{ enable: 0 }, { ...off, search_mode: 'required' }, [off], 'enable']) {
      expect(() => send(format, { web_search: value })).toThrow(refusalOf('web_search'));
    }
    expect(() => send(format, { web_search: true })).toThrow('say false or {"enable":false}');
    expect(() => send(format, { enable_search: off })).toThrow(refusalOf('enable_search'));
  });

  for (const { kind } of EDIT_RULES) {
    it(`with an edit of kind ${kind} is refused, and with any other is not`, () => {
      const edits = [{ type: 'clear_thinking_20251015' }];
      expect(send(format, { context_management: { edits } })).toHaveProperty('context_management');
      const all = [...edits, { type: `${kind}_20260112` }];
      const path = 'context_management.edits.1.type';
      const param = format.name === 'native' ? path : path.replace('.1', '[1]');
      expect(() => send(format, { context_management: { edits: all } })).toThrow(refusalOf(param));
    });
  }

  it('says in its refusal which field it is, why, and what to do', () => {
    const message = 'this is not sold here: fast answers cost several times as much';
    expect(() => send(format, { speed: 'fast' })).toThrow(message);
    expect(() => send(format, { speed: 'fast' })).toThrow('leave it out, or say "standard"');
  });

  const names = [
    'Model',
    'MAX_TOKENS',
    'meſſages',
    'max_to\u212Aens',
    'Speed',
    'fallbackS',
    'ſtream',
  ];
  for (const name of names) {
    it(`is refused where it says ${name}`, () => {
      expect(() => send(format, { [name]: 1 })).toThrow(refusalOf(name));
      expect(() => send(format, { [name]: 1 })).toThrow('did you mean');
    });
  }

  it('may not hide known names in its messages, tools and edits', () => {
    const hidden = [
      { messages: [{ role: 'user', content: 'Hi', Content: 'Ho' }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', TEXT: 'Ho' }] }] },
      { tools: [{ type: 'function', name: 'a', function: { name: 'a' }, TYPE: 'web_search' }] },
      { context_management: { Edits: [] } },
      { stream_options: { Include_Usage: false } },
    ];
    for (const fields of hidden) expect(() => send(format, fields)).toThrow('did you mean');
  });

  it('may use any names where they are of its own choice', () => {
    const schema = { type: 'object', Type: 1, properties: { Model: {}, Content: {} } };
    const tools = [
      {
        type: 'function',
        name: 'a',
        function: { name: 'a', parameters: schema },
        input_schema: schema,
      },
    ];
    const fields = { tools, metadata: { user_id: 'u', Model: 'x' }, of_tomorrow: { Model: 1 } };
    expect(send(format, fields)).toMatchObject(fields);
  });
});

describe('a tool of a native request', () => {
  const toolOf = (type: string) => ({
    tools: [{ type, name: 'a', input_schema: { type: 'object' } }],
  });
  for (const { kind, becomes } of TOOL_RULES.filter((rule) => rule.becomes !== 'priced')) {
    it(`of kind ${kind} is ${becomes === 'passed' ? 'passed' : 'refused'}`, () => {
      for (const type of [kind, `${kind}_20990101`, kind.toUpperCase()]) {
        if (becomes === 'passed')
          expect(send(nativeFormat, toolOf(type))).toMatchObject(toolOf(type));
        else expect(() => send(nativeFormat, toolOf(type))).toThrow(refusalOf('tools.0.type'));
      }
    });
  }

  it('is refused if another gateway would run it', () => {
    const types = ['web_search', 'bash', 'datetime', 'Fusion'].map((kind) => `openrouter:${kind}`);
    for (const type of [...types, 'custom:a']) {
      expect(() => send(nativeFormat, toolOf(type))).toThrow(refusalOf('tools.0.type'));
      expect(() => send(nativeFormat, toolOf(type))).toThrow(`\`${type}\` is not sold here`);
    }
  });

  it.each(['of_tomorrow', 'web_searcher', 'advisory'])('of type %s is passed', (type) => {
    expect(send(nativeFormat, toolOf(type))).toMatchObject(toolOf(type));
  });
});
