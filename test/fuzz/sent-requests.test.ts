import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClientRequest, readRequest } from '../../src/gateway/read-request.ts';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../src/protocol/format.ts';
import { FORMAT_NAMES, type FormatName } from '../../src/protocol/format-names.ts';
import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';
import { dialectOf } from '../../src/upstream/upstream-dialect.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { readEveryWay } from '../unit/protocol/read-every-way.ts';

const RUNS = { numRuns: 2_000, timeMs: 6_000 };
/** No less than a Responses upstream takes. */
const OUTPUT_TOKENS_MAX = 17;

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);

/** Writes one member so that two readers may understand it differently. */
const disguises = fc.constantFrom(
  (name: string) => JSON.stringify(name),
  (name: string) => JSON.stringify(name),
  (name: string) => `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`,
  (name: string) => JSON.stringify(name.toUpperCase()),
  (name: string) => JSON.stringify(name.charAt(0).toUpperCase() + name.slice(1)),
  (name: string) => JSON.stringify(name.replace('s', '\u017F')),
);

const member = (names: readonly string[], values: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...names), disguises, fc.constantFrom(...values))
    .map(([name, disguise, value]) => `${disguise(name)}:${value}`);

const object = (first: readonly string[], more: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(more, { maxLength: 2 }), fc.array(more, { maxLength: 2 }))
    .map(([before, after]) => `{${[...before, ...first, ...after].join(',')}}`);

const kinds = ['"custom"', '"function"', '"web_search_20250305"', '"code_execution_20250825"'];
const tools = {
  native: object(
    ['"name":"a"', '"input_schema":{"type":"object","Type":"of the client"}'],
    fc.oneof(
      member(['type', 'name'], [...kinds, '"b"']),
      member(['max_uses'], ['1', '100', 'null']),
    ),
  ),
  chat: object(
    ['"type":"function"', '"function":{"name":"a","parameters":{"Name":1}}'],
    member(['type'], kinds),
  ),
  responses: object(
    ['"type":"function"', '"name":"a"', '"parameters":{"type":"object","Name":1}'],
    fc.oneof(
      member(['type'], [...kinds, '"web_search"', '"mcp"']),
      member(['name'], ['"b"']),
      member(['tools'], ['[{"type":"mcp"}]']),
    ),
  ),
};

/** Short enough to be read whole, or long enough for its texts to be skipped. */
const messages = fc
  .tuple(
    fc.constantFrom('Hi', 'Hi '.repeat(4_000)),
    fc.array(member(['role', 'content'], ['"user"', '"assistant"', '"Ho"']), { maxLength: 1 }),
  )
  .map(([said, more]) => `[{${['"role":"user"', `"content":"${said}."`, ...more].join(',')}}]`);

const fields = member(
  [
    ...['model', 'max_tokens', 'max_completion_tokens', 'stream', 'n', 'speed', 'service_tier'],
    ...['fallbacks', 'models', 'maxTokens', 'store', 'container', 'web_search_options', 'thread'],
    ...['field_of_tomorrow', 'previous_response_id', 'background', 'conversation', 'moderation'],
    ...['prompt', 'max_output_tokens', 'context_management', 'include'],
  ],
  ['"opus"', '1', '100', 'true', 'false', 'null', '"fast"', '"auto"', '"default"', '[]', '{}'],
);

const LIMITS = { native: 'max_tokens', chat: 'max_tokens', responses: 'max_output_tokens' };

const bodies = (format: FormatName) =>
  fc
    .tuple(fc.array(fields, { maxLength: 4 }), messages, fc.array(tools[format], { maxLength: 2 }))
    .chain(([others, said, listed]) =>
      fc
        .shuffledSubarray(
          [
            ...['"model":"haiku"', `"${LIMITS[format]}":9`],
            `"${format === 'responses' ? 'input' : 'messages'}":${said}`,
            ...others,
          ],
          { minLength: 3 + others.length },
        )
        .map((all) => `{${[...all, `"tools":[${listed.join(',')}]`].join(',')}}`),
    );

function tryRead(body: string, format: Format, mayAbridge: boolean): ClientRequest | undefined {
  try {
    return readRequest(Buffer.from(body), format, header, mayAbridge);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function trySend(read: ClientRequest, format: Format, to: FormatName): string | undefined {
  const { request, readWhole } = read;
  const source = to === format.name ? read.source : undefined;
  const dialect = dialectOf(to);
  const asked = { request, readWhole, source, isStream: request.isStream };
  try {
    const call = { ...asked, outputTokensMax: OUTPUT_TOKENS_MAX };
    return String(dialect.encodeRequest(call, 'sold', undefined));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Everything on which a vendor bases its bill. */
const PRICED = [
  ...['n', 'speed', 'service_tier', 'fallbacks', 'models', 'container', 'thread', 'moderation'],
  ...['previous_response_id', 'background', 'conversation'],
];
/** Fields that mean something else in the other formats. */
const PRICED_IN_RESPONSES = ['prompt', 'context_management'];
const HARMLESS = [undefined, null, 1, 'auto', 'default', false];

function readBill(sent: Record<string, unknown>, to: FormatName) {
  const listed = (sent['tools'] ?? []) as Record<string, unknown>[];
  return {
    model: sent['model'],
    outputTokensMax: ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
      .map((limit) => sent[limit])
      .filter((limit) => limit !== undefined),
    isStream: sent['stream'],
    isStored: sent['store'],
    kinds: listed.map(({ type }) => type ?? null),
    uses: listed.map((tool) => tool['max_uses'] ?? null),
    names: listed.map(
      (tool) => (tool['function'] as typeof tool | undefined)?.['name'] ?? tool['name'],
    ),
    dear: [...PRICED, ...(to === 'responses' ? PRICED_IN_RESPONSES : [])].filter((name) => {
      const value = sent[name];
      const isEmpty = Array.isArray(value) && value.length === 0;
      return !HARMLESS.includes(value as string) && !isEmpty;
    }),
    others: ['maxtokens', 'maxTokens'].filter((name) => name in sent),
  };
}

/** What a vendor may be told of a tool that runs at the client. */
const OURS = { chat: ['function'], responses: ['function', 'custom'] };

function expectBill(
  understood: Record<string, unknown>,
  { isStream, tools }: ClientRequest['request'],
  to: FormatName,
  body: string,
): void {
  const { kinds, uses, names, ...bill } = readBill(understood, to);
  expect(bill, body).toEqual({
    ...{ model: 'sold', outputTokensMax: [OUTPUT_TOKENS_MAX], isStream },
    ...{ dear: [], others: [], isStored: to === 'responses' ? false : undefined },
  });
  // A Responses client may tell a tool twice, and its upstream gets both.
  expect(new Set(names), body).toEqual(new Set(tools.map(({ name }) => name)));
  if (to === 'native') {
    expect(kinds, body).toEqual(tools.map(({ type }) => type ?? null));
    expect(uses, body).toEqual(tools.map((tool) => tool.max_uses ?? null));
  } else {
    expect(kinds.filter((kind) => !OURS[to].includes(String(kind)))).toEqual([]);
  }
}

for (const [name, format] of [
  ['native', nativeFormat],
  ['chat', chatFormat],
  ['responses', responsesFormat],
] as const) {
  describe(`any ${name} body`, () => {
    it('is billed as every reader of what is sent of it understands it', () => {
      let sentCount = 0;
      assertInTime(
        fc.property(bodies(name), fc.boolean(), (body, mayAbridge) => {
          const read = tryRead(body, format, mayAbridge);
          if (read === undefined) return;
          const { request } = read;
          for (const to of FORMAT_NAMES) {
            const sent = trySend(read, format, to);
            if (sent === undefined) continue;
            sentCount += 1;
            for (const understood of readEveryWay(sent)) expectBill(understood, request, to, body);
          }
        }),
        RUNS,
      );
      expect(sentCount).toBeGreaterThan(20);
    }, 20_000);
  });
}
