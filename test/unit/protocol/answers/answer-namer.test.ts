import { describe, expect, it } from 'vitest';
import { createAnswerNamer } from '../../../../src/protocol/answers/answer-namer.ts';
import { decodeMessageId } from '../../../../src/protocol/answers/decode-message-id.ts';
import { NO_USAGE } from '../../../../src/protocol/answers/no-usage.ts';
import { fitToolName } from '../../../../src/protocol/fields/fit-tool-name.ts';
import type { InferenceEvent } from '../../../../src/protocol/inference.ts';
import { decodeNative } from '../upstream-requests.ts';

const REQUEST_IDS = ['req_000000abcdefgh0123456789', 'req_000000abcdefgh9876543210'] as const;
const NAME = 'list_dir';

const begin = (id: string, name = NAME): InferenceEvent => ({
  type: 'block_start',
  index: 0,
  block: { type: 'tool_use', id, name },
});

/** A conversation in which these calls have been made. */
function ask(...ids: readonly string[]) {
  const history = ids.flatMap((id) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: NAME, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id }] },
  ]);
  const messages = [{ role: 'user', content: 'Look' }, ...history];
  return decodeNative({ model: 'opus', max_tokens: 9, messages });
}

function nameAll(ids: readonly string[], request = ask(), requestId: string = REQUEST_IDS[0]) {
  const events = createAnswerNamer(request, requestId).name(ids.map((id) => begin(id)));
  return events.map((event) =>
    event.type === 'block_start' && event.block.type === 'tool_use' ? event.block.id : '',
  );
}

describe('the id of a translated answer', () => {
  const idOf = (id: string, requestId: string = REQUEST_IDS[0]) => {
    const usage = NO_USAGE;
    const start: InferenceEvent = { type: 'start', id, model: 'm', usage };
    const [named] = createAnswerNamer(ask(), requestId).name([start]);
    return named?.type === 'start' ? named.id : '';
  };

  it.each(['msg_01XFDUDYJgAACzvnptvVoYEL', 'msg_0d2c5c1e-55c8-4a4b-9b0c-1f2e3d4c5b6a'])(
    'stays as it is if it looks random: %s',
    (id) => {
      expect(idOf(id)).toBe(id);
    },
  );

  it.each(['chatcmpl-417', undefined])('is that of its request if it was %s', (id) => {
    const decoded = decodeMessageId(id, 'chatcmpl-');
    expect(REQUEST_IDS.map((requestId) => idOf(decoded, requestId))).toEqual([
      'msg_000000abcdefgh0123456789',
      'msg_000000abcdefgh9876543210',
    ]);
  });
});

describe('the id of a call in a translated answer', () => {
  it.each([
    'call_Yd9hVbT3kLqW0xNzA7mCe2Rf',
    'chatcmpl-tool-5f1c2a9e7b3d4c6f8a0b1c2d3e4f5a6b',
    'toolu_01A09q90qw90lq917835lq9',
    'call_00_wEcT5aTMEbzwwmNOWpCN5WT8',
    'D681PevKs',
    'abcDefGhi',
    'abcdefghi',
    'abcdefg42',
    'call_62136319',
    'call_4k2xq9wz',
    'function-call-1830273648219',
    `${NAME}_5jm2kq8w0x1z`,
    '365174485',
  ])('stays as it is if it looks random: %s', (id) => {
    expect(nameAll([id])).toEqual([id]);
  });

  it.each([
    '0',
    'call_0',
    'call_12',
    'toolcall_1',
    'toolcall1',
    `${NAME}_0`,
    `functions_${NAME}_3`,
    NAME,
  ])('is another one in each request if it is only a count: %s', (id) => {
    const [first, second] = REQUEST_IDS.map((requestId) => nameAll([id], ask(), requestId));
    expect(first).toEqual([`${id}_0123456789_0`]);
    expect(second).toEqual([`${id}_9876543210_0`]);
  });

  it('is another one if it is the name of the tool and a count, of nine characters', () => {
    const events = createAnswerNamer(ask(), REQUEST_IDS[0]).name([begin('lookfor12', 'lookfor')]);
    expect(events).toMatchObject([{ block: { id: 'lookfor12_0123456789_0' } }]);
  });

  it('is another one if the conversation has it already, however random it looks', () => {
    const id = 'call_Yd9hVbT3kLqW0xNzA7mCe2Rf';
    const [given = ''] = nameAll([id], ask('call_0', id));
    expect(given).not.toBe(id);
    expect(given).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  it('is another one for each call, and no vendor finds it too long', () => {
    const name = 'mcp__a_server_with_a_long_name__and_its_tool';
    const ids = nameAll([`${name}_0`, `${name}_1`, 'call_0', 'call_0', 'D681PevKs', 'D681PevKs']);
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  it('stays with a tool that gets its long name back', () => {
    const long = 'a'.repeat(100);
    const request = decodeNative({
      ...{ model: 'opus', max_tokens: 9, messages: [{ role: 'user', content: 'Look' }] },
      tools: [long, NAME].map((name) => ({ name, input_schema: { type: 'object' } })),
    });
    const events = ['D681PevKs', 'D681PevKt'].map((id, i) =>
      begin(id, [fitToolName(long), NAME][i]),
    );
    expect(createAnswerNamer(request, REQUEST_IDS[0]).name(events)).toEqual([
      begin('D681PevKs', long),
      begin('D681PevKt', NAME),
    ]);
  });

  it('costs nothing where there is no call', () => {
    const events: InferenceEvent[] = [{ type: 'block_stop', index: 0 }];
    expect(createAnswerNamer(ask(), REQUEST_IDS[0]).name(events)).toBe(events);
  });
});
