import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClientRequest, readRequest } from '../../src/gateway/read-request.ts';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../src/protocol/format.ts';
import type { UpstreamFormat } from '../../src/protocol/format-names.ts';
import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { CHAT_DIALECT, NATIVE_DIALECT } from '../../src/upstream/upstream-dialect.ts';
import { readEveryWay } from '../unit/protocol/read-every-way.ts';

const RUNS = { numRuns: 20_000, interruptAfterTimeLimit: 6_000 };
const OUTPUT_TOKENS_MAX = 7;

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
    'field_of_tomorrow',
  ],
  ['"opus"', '1', '100', 'true', 'false', 'null', '"fast"', '"auto"', '"default"', '[]', '{}'],
);

const bodies = (format: UpstreamFormat) =>
  fc
    .tuple(fc.array(fields, { maxLength: 4 }), messages, fc.array(tools[format], { maxLength: 2 }))
    .chain(([others, said, listed]) =>
      fc
        .shuffledSubarray(['"model":"haiku"', '"max_tokens":9', `"messages":${said}`, ...others], {
          minLength: 3 + others.length,
        })
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

function trySend(read: ClientRequest, format: Format, to: UpstreamFormat): string | undefined {
  const { request, readWhole } = read;
  const source = to === format.name ? read.source : undefined;
  const dialect = to === 'native' ? NATIVE_DIALECT : CHAT_DIALECT;
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
const PRICED = ['n', 'speed', 'service_tier', 'fallbacks', 'models', 'container', 'thread'];
const HARMLESS = [undefined, null, 1, 'auto', 'default'];

function readBill(sent: Record<string, unknown>) {
  const listed = (sent['tools'] ?? []) as Record<string, unknown>[];
  return {
    model: sent['model'],
    outputTokensMax: [sent['max_tokens'], sent['max_completion_tokens']].filter(
      (limit) => limit !== undefined,
    ),
    isStream: sent['stream'],
    kinds: listed.map(({ type }) => type ?? null),
    uses: listed.map((tool) => tool['max_uses'] ?? null),
    names: listed.map(
      (tool) => (tool['function'] as typeof tool | undefined)?.['name'] ?? tool['name'],
    ),
    dear: PRICED.filter((name) => {
      const value = sent[name];
      const isEmpty = Array.isArray(value) && value.length === 0;
      return !HARMLESS.includes(value as string) && !isEmpty;
    }),
    others: ['maxtokens', 'maxTokens'].filter((name) => name in sent),
  };
}

for (const [name, format] of [
  ['native', nativeFormat],
  ['chat', chatFormat],
] as const) {
  describe(`any ${name} body`, () => {
    it('is billed as every reader of what is sent of it understands it', () => {
      let sentCount = 0;
      fc.assert(
        fc.property(bodies(name), fc.boolean(), (body, mayAbridge) => {
          const read = tryRead(body, format, mayAbridge);
          if (read === undefined) return;
          const { request } = read;
          for (const to of ['native', 'chat'] as const) {
            const sent = trySend(read, format, to);
            if (sent === undefined) continue;
            sentCount += 1;
            for (const understood of readEveryWay(sent)) {
              expect(readBill(understood), body).toEqual({
                model: 'sold',
                outputTokensMax: [OUTPUT_TOKENS_MAX],
                isStream: request.isStream,
                kinds: request.tools.map(({ type }) =>
                  to === 'chat' ? 'function' : (type ?? null),
                ),
                uses: request.tools.map((tool) => (to === 'chat' ? null : (tool.max_uses ?? null))),
                names: request.tools.map(({ name }) => name),
                dear: [],
                others: [],
              });
            }
          }
        }),
        RUNS,
      );
      expect(sentCount).toBeGreaterThan(100);
    }, 20_000);
  });
}
