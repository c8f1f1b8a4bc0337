import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/protocol/refusals.ts';
import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';

const TIME_MS = 3_000;
const RUNS = { interruptAfterTimeLimit: TIME_MS, numRuns: 20_000 };

const FIXTURES = new URL('../fixtures/responses/requests/', import.meta.url);
const requests = readdirSync(FIXTURES).map((file) => {
  const fixture = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as { body: unknown };
  return fixture.body;
});

/** Words of the format, so that random values get past the first checks. */
const words = fc.constantFrom(
  'user',
  'assistant',
  'developer',
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'reasoning',
  'additional_tools',
  'item_reference',
  'web_search_call',
  'custom',
  'namespace',
  'input_text',
  'input_image',
  'auto',
  'allowed_tools',
  'json_schema',
  'data:image/png;base64,',
  '{"a":1}',
  '{',
  '',
);
const values = fc.oneof(words, fc.jsonValue({ maxDepth: 3 }));

/** Puts `value` somewhere into `target`. `undefined` removes a member. */
function mutate(target: unknown, steps: readonly number[], value: unknown): void {
  const [step = 0, ...further] = steps;
  if (typeof target !== 'object' || target === null) return;
  const keys = Object.keys(target);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return;
  const child: unknown = Reflect.get(target, key);
  if (further.length > 0 && typeof child === 'object' && child !== null) {
    mutate(child, further, value);
  } else if (value === undefined && !Array.isArray(target)) {
    Reflect.deleteProperty(target, key);
  } else {
    Reflect.set(target, key, value ?? null);
  }
}

const mutations = fc.record({
  steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  value: fc.option(values, { nil: undefined }),
});
const mutatedRequests = fc
  .tuple(fc.constantFrom(...requests), fc.array(mutations, { minLength: 1, maxLength: 4 }))
  .map(([request, changes]) => {
    const body: unknown = structuredClone(request);
    for (const { steps, value } of changes) mutate(body, steps, value);
    return body;
  });

function decodeOrRefuse(body: unknown): 'decoded' | Refusal {
  try {
    responsesFormat.decodeRequest(body, () => undefined);
    return 'decoded';
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

describe('any body', () => {
  it(
    'is decoded or refused, and never breaks anything',
    () => {
      fc.assert(
        fc.property(fc.jsonValue(), (body) => void decodeOrRefuse(body)),
        RUNS,
      );
    },
    TIME_MS * 4,
  );

  it(
    'that was right once is decoded or refused with a short word on what is wrong now',
    () => {
      const seen = { decoded: 0, refused: 0 };
      fc.assert(
        fc.property(mutatedRequests, (body) => {
          const outcome = decodeOrRefuse(body);
          seen[outcome === 'decoded' ? outcome : 'refused'] += 1;
          if (outcome === 'decoded') return;
          expect(outcome.status).toBe(400);
          expect(outcome.message.length).toBeLessThan(300);
        }),
        RUNS,
      );
      expect(Math.min(seen.decoded, seen.refused)).toBeGreaterThan(10);
    },
    TIME_MS * 4,
  );
});
