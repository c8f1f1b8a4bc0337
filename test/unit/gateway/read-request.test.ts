import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import { type ClientRequest, readRequest } from '../../../src/gateway/read-request.ts';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../../src/protocol/format.ts';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { responsesFormat } from '../../../src/protocol/responses/responses-format.ts';
import { CHAT_DIALECT, NATIVE_DIALECT } from '../../../src/upstream/upstream-dialect.ts';
import { assertInTime } from '../../support/time/assert-in-time.ts';
import { longTexts } from '../long-texts.ts';
import {
  assistant,
  cached,
  image,
  result,
  text,
  tool,
  use,
  user,
} from '../protocol/native/request-parts.ts';
import { attempt, writeJson, writings } from '../protocol/written-bodies.ts';

const FUZZ_TIME_MS = 2_000;
const FORMATS = { native: nativeFormat, chat: chatFormat, responses: responsesFormat };

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);

const read = (body: string | Buffer, format: Format, mayAbridge: boolean) =>
  readRequest(Buffer.from(body), format, header, mayAbridge);

/**
 * Everything that becomes of a request: what the gateway knows of it, what it may cost, and what
 * either kind of upstream gets.
 */
function readAll({ request, readWhole, source, wantsStreamUsage }: ClientRequest, format: Format) {
  const { messages: _, system: __, tools: ___, ...outline } = request;
  const call = { request, readWhole, outputTokensMax: 99, isStream: request.isStream };
  return {
    ...{ outline, wantsStreamUsage, whole: readWhole() },
    estimate: estimateTokens(request, 3, source),
    members: source.members,
    bodies: [NATIVE_DIALECT, CHAT_DIALECT].map((dialect) =>
      attempt(() => {
        const own = dialect.format === format.name ? source : undefined;
        return String(dialect.encodeRequest({ ...call, source: own }, 'vendor', undefined));
      }),
    ),
  };
}

const blocks = longTexts.chain((long) =>
  fc.constantFrom<unknown[]>(
    [long],
    [text(long), text('and', cached())],
    [image('image/png', long), text('What is it?')],
    [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: long } }],
    [
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: long },
        title: long,
      },
    ],
    [{ type: 'of tomorrow', content: long }],
    [text(' ')],
  ),
);
const nativeBodies = fc
  .record({
    asked: blocks,
    said: longTexts,
    id: fc.constantFrom('t_1', 'ö'.repeat(999), 'x'.repeat(999)),
    system: fc.constantFrom<unknown>('Be brief.', [text('Be brief.')], null),
    ending: fc.constantFrom('', ' ', 'prefilled', 'blank at the end \n'),
  })
  .map(({ asked, said, id, system, ending }) => ({
    ...{ model: 'sonnet', max_tokens: 2_048, stream: true, system, tools: [tool('look')] },
    metadata: { user_id: said },
    messages: [
      { role: 'user', content: typeof asked[0] === 'string' ? asked[0] : asked },
      assistant(
        { type: 'thinking', thinking: said, signature: said },
        { ...use(id), input: { said } },
      ),
      user({ ...result(id), content: [text(said)] }),
      ...(ending === '' ? [] : [assistant(text(`${said}${ending}`))]),
    ],
  }));

const calling = {
  role: 'assistant',
  tool_calls: [
    {
      ...{ id: 'c', type: 'function' },
      function: { name: 'look', arguments: JSON.stringify({ at: 'it '.repeat(300) }) },
    },
  ],
};

const chatBodies = fc
  .record({
    system: longTexts,
    asked: longTexts,
    more: fc.constantFrom<unknown[]>(
      [],
      [
        { role: 'assistant', content: 'So' },
        { role: 'user', content: [text('And?')] },
      ],
      [{ role: 'developer', content: 'Be brief.' }],
      [calling, { role: 'tool', tool_call_id: 'c', content: 'seen '.repeat(200) }],
    ),
    tools: fc.constantFrom<unknown>(undefined, [
      { type: 'function', function: { name: 'look', description: 'd'.repeat(999) } },
    ]),
    user: longTexts,
  })
  .map(({ system, asked, more, tools, user: name }) => ({
    ...{ model: 'sonnet', max_tokens: 9, tools, user: name, stop: ['.'.repeat(999)] },
    messages: [{ role: 'system', content: system }, { role: 'user', content: asked }, ...more],
  }));

const responsesBodies = fc
  .record({
    instructions: fc.oneof(longTexts, fc.constant(null)),
    asked: longTexts,
    id: fc.constantFrom('c', 'x'.repeat(999)),
    more: fc.constantFrom<unknown[]>(
      [],
      [
        { role: 'assistant', content: [{ type: 'output_text', text: 'So '.repeat(300) }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      ],
      [{ role: 'developer', content: 'Be brief. '.repeat(99) }],
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://h/' }] }],
      [{ type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(999) }],
    ),
    calls: fc.boolean(),
    tools: fc.constantFrom<unknown>(undefined, [
      { type: 'function', name: 'look', description: 'd'.repeat(999) },
    ]),
    store: fc.constantFrom(false, true),
  })
  .map(({ instructions, asked, id, more, calls, tools, store }) => ({
    ...{ model: 'sonnet', max_output_tokens: 9, instructions, tools, store },
    input: [
      { role: 'user', content: asked },
      ...more,
      ...(calls ? [{ type: 'function_call', call_id: id, name: 'look', arguments: '{}' }] : []),
      ...(calls ? [{ type: 'function_call_output', call_id: id, output: asked }] : []),
    ],
  }));

/** Makes the body large enough to be abridged, whatever else it contains. */
const enlarge = (json: string) => json.replace('{', `{"x":"${'.'.repeat(8 * 1024)}",`);

const BODIES: Record<keyof typeof FORMATS, fc.Arbitrary<object>> = {
  native: nativeBodies,
  chat: chatBodies,
  responses: responsesBodies,
};

describe.each(FORMAT_NAMES)('a large request of the %s format', (name) => {
  const format = FORMATS[name];
  const bodies = BODIES[name];

  it('says the same and goes on the same, whether its long texts are read or not', () => {
    let abridged = 0;
    const saysTheSame = fc.property(bodies, writings, (body, writing) => {
      const json = enlarge(writeJson(JSON.parse(JSON.stringify(body)), writing));
      const told = attempt(() => readAll(read(json, format, true), format));
      expect(told).toEqual(attempt(() => readAll(read(json, format, false), format)));
      if (typeof told === 'object') abridged += read(json, format, true).source.longTexts.size;
    });
    // One in 40 is abridged, so this many have some, however slow the machine is.
    fc.assert(saysTheSame, { numRuns: 400 });
    assertInTime(saysTheSame, { numRuns: 600, timeMs: FUZZ_TIME_MS });
    expect(abridged).toBeGreaterThan(0);
  });

  it('is refused in the same words, whatever is broken in it', () => {
    assertInTime(
      fc.property(bodies, fc.nat(), fc.integer({ min: 0, max: 255 }), (body, place, byte) => {
        const bytes = Buffer.from(enlarge(JSON.stringify(body)));
        bytes[place % bytes.length] = byte;
        const told = attempt(() => readAll(read(bytes, format, true), format));
        expect(told).toEqual(attempt(() => readAll(read(bytes, format, false), format)));
      }),
      { numRuns: 2_000, timeMs: FUZZ_TIME_MS },
    );
  });
});

const bodyOf = (chars: number) => {
  const said = [{ role: 'user', content: 'a'.repeat(chars) }];
  return JSON.stringify({
    ...{ model: 'sonnet', max_tokens: 9, store: false },
    ...{ messages: said, input: said },
  });
};

it.each(FORMAT_NAMES)(
  'a request of the %s format is read whole when it is small, and where no upstream reads its format',
  (name) => {
    const leftOf = (chars: number, mayAbridge: boolean) =>
      read(bodyOf(chars), FORMATS[name], mayAbridge).source.longTexts.size;
    expect([leftOf(4_000, true), leftOf(10_000, false)]).toEqual([0, 0]);
    expect(leftOf(10_000, true)).toBe(1);
  },
);
