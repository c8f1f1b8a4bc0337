import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/protocol/refusals.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { putSomewhere } from './put-somewhere.ts';

const TIME_MS = 3_000;
export const RUNS = { timeMs: TIME_MS, numRuns: 2_000 };
export const TEST_TIME_MS = TIME_MS * 4;

interface Bodies {
  /** Of the fixtures. */
  readonly format: 'chat' | 'responses';
  /** Words of the format, so that random values get past the first checks. */
  readonly words: readonly string[];
  /** Throws a refusal of what it cannot read. */
  readonly decode: (body: unknown) => unknown;
}

/** Describes what becomes of any body, and of fixtures with something strange in them. */
export function describeBodies({ format, words, decode }: Bodies): void {
  const mutatedRequests = mutate(readRequests(format), words);

  const decodeOrRefuse = (body: unknown): 'decoded' | Refusal => {
    try {
      decode(body);
      return 'decoded';
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };

  describe('any body', () => {
    it(
      'is decoded or refused, and never breaks anything',
      () => {
        assertInTime(
          fc.property(fc.jsonValue(), (body) => void decodeOrRefuse(body)),
          RUNS,
        );
      },
      TEST_TIME_MS,
    );

    it(
      'that was right once is decoded or refused with a short word on what is wrong now',
      () => {
        const seen = { decoded: 0, refused: 0 };
        assertInTime(
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
      TEST_TIME_MS,
    );
  });
}

function readRequests(format: Bodies['format']): readonly unknown[] {
  const folder = new URL(`../fixtures/${format}/requests/`, import.meta.url);
  return readdirSync(folder).map((file) => {
    const fixture = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { body: unknown };
    return fixture.body;
  });
}

function mutate(requests: readonly unknown[], words: readonly string[]): fc.Arbitrary<unknown> {
  const values = fc.oneof(fc.constantFrom(...words), fc.jsonValue({ maxDepth: 3 }));
  const changes = fc.record({
    steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
    value: fc.option(values, { nil: undefined }),
  });
  return fc
    .tuple(fc.constantFrom(...requests), fc.array(changes, { minLength: 1, maxLength: 4 }))
    .map(([request, changed]) => {
      const body: unknown = structuredClone(request);
      for (const { steps, value } of changed) putSomewhere(body, steps, value);
      return body;
    });
}
