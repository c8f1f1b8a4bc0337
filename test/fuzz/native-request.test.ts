import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_FIELDS_MAX } from '../../src/protocol/json/json-place.ts';
import { parseJsonBody } from '../../src/protocol/json/parse-json-body.ts';
import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';

const FUZZ_TIME_MS = 3_000;
/** CPU time: far above what a slow machine takes, far below what a quadratic step takes. */
const DECODE_CPU_MAX_MS = 5_000;

const REQUESTS = new URL('../fixtures/native/requests/', import.meta.url);

const bodies = readdirSync(REQUESTS).map((file): unknown => {
  const fixture = JSON.parse(readFileSync(new URL(file, REQUESTS), 'utf8')) as { body: unknown };
  return fixture.body;
});

const header = (name: string) => (name === 'llm-version' ? '2023-06-01' : undefined);

/** Decodes or refuses. Throws all other errors on. */
function tryDecode(bytes: Uint8Array): 'decoded' | 'refused' {
  const cpu = process.cpuUsage();
  try {
    nativeFormat.decodeRequest(parseJsonBody(bytes), header);
    return 'decoded';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.status).toBe(400);
    expect(error.message).not.toBe('');
    return 'refused';
  } finally {
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(DECODE_CPU_MAX_MS);
  }
}

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, i) => (i === key ? replaceAt(item, rest, replacement) : item));
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [key]: replaceAt(fields[key], rest, replacement) };
}

const strange = fc.oneof(
  fc.constantFrom(null, '', ' ', -1, 0, 1.5, 1e308, true, [], {}, [[]], [null], { type: null }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'tool_result', 'tool_use', 'assistant'),
  fc.constantFrom({ type: 'toString' }, { type: '__proto__' }, { type: 'image' }, { type: 'text' }),
  fc.jsonValue({ maxDepth: 3 }),
);

const mutations = fc
  .record({
    body: fc.constantFrom(...bodies),
    changes: fc.array(fc.tuple(fc.nat(1_000), strange), { minLength: 1, maxLength: 3 }),
  })
  .map(({ body, changes }) =>
    changes.reduce((changed, [place, replacement]) => {
      const paths = pathsOf(changed);
      return replaceAt(changed, paths[place % paths.length] ?? [], replacement);
    }, body),
  );

describe('the decoder of native requests', () => {
  it('decodes or refuses any JSON', () => {
    assertInTime(
      fc.property(fc.jsonValue(), (value) => {
        tryDecode(encode(value));
      }),
      { numRuns: 1_000, timeMs: FUZZ_TIME_MS },
    );
  });

  it('decodes or refuses any request with something strange in it', () => {
    const outcomes = new Set<string>();
    assertInTime(
      fc.property(mutations, (value) => {
        outcomes.add(tryDecode(encode(value)));
      }),
      { numRuns: 2_000, timeMs: FUZZ_TIME_MS },
    );
    expect([...outcomes].sort()).toEqual(['decoded', 'refused']);
  });

  it('decodes or refuses any request with bytes changed in it', () => {
    const broken = fc
      .tuple(
        fc.constantFrom(...bodies),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      )
      .map(([body, changes]) => {
        const bytes = encode(body);
        for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
        return bytes;
      });
    assertInTime(
      fc.property(broken, (bytes) => {
        tryDecode(bytes);
      }),
      { numRuns: 2_000, timeMs: FUZZ_TIME_MS },
    );
  });

  it('takes no longer the more messages and tools there are than it takes to read them', () => {
    const uses = Array.from({ length: 20_000 }, (_, i) => `toolu_${i}`);
    const messages = [
      { role: 'user', content: 'Hello' },
      ...uses.flatMap((id) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Seen' }] },
      ]),
    ];
    const tools = uses.map((name) => ({ name, input_schema: { type: 'object' } }));
    expect(tryDecode(encode({ model: 'opus', max_tokens: 1, messages, tools }))).toBe('decoded');
  });

  it('takes no longer the more fields and tools there are that nobody knows', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `of_tomorrow_${i}`);
    const few = names.slice(0, JSON_FIELDS_MAX - 10);
    const fields = Object.fromEntries(few.map((name) => [name, 1]));
    const tools = names.map((name) => ({ name, type: name }));
    const body = { model: 'opus', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] };
    expect(tryDecode(encode({ ...body, ...fields, tools }))).toBe('decoded');
  });
});
