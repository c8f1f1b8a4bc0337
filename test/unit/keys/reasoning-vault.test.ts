import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReasoningVault, REASONING_BYTES_MAX } from '../../../src/keys/reasoning-vault.ts';
import type { VendorThought } from '../../../src/protocol/sealed-reasoning.ts';

const vault = createReasoningVault(() => ['the secret']);
const mine = vault.sealOf('mine');
const thoughts: fc.Arbitrary<VendorThought> = fc.oneof(
  fc.record({
    type: fc.constant('thinking' as const),
    thinking: fc.string({ unit: 'grapheme' }),
    signature: fc.string(),
  }),
  fc.record({ type: fc.constant('redacted_thinking' as const), data: fc.string() }),
  fc.record({
    type: fc.constant('reasoning' as const),
    id: fc.string(),
    encrypted: fc.string({ unit: 'grapheme' }),
  }),
);
const ORIGIN = { upstream: 'main', model: 'sonnet' };
const THOUGHT: VendorThought = { type: 'thinking', thinking: 'It is cold.', signature: 'signed' };

const sealed = (thought: VendorThought = THOUGHT, seal = mine): string => {
  const text = seal.seal(ORIGIN, thought);
  if (text === undefined) throw new Error('it was not sealed');
  return text;
};

describe('a sealed thought', () => {
  it('is opened for its account as it was, and cannot be read', () => {
    fc.assert(
      fc.property(thoughts, fc.string(), fc.string(), (reasoning, upstream, model) => {
        const text = mine.seal({ upstream, model }, reasoning) ?? '';
        expect(text).toMatch(/^tg1\.[\w-]+$/);
        expect(mine.open(text)).toEqual({ upstream, model, reasoning });
      }),
      { numRuns: 300 },
    );
    expect(Buffer.from(sealed().slice(4), 'base64url').toString('latin1')).not.toContain('cold');
    expect(sealed()).not.toBe(sealed());
  });

  it('is not opened if any of its characters is another one, missing or new', () => {
    const text = sealed();
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom('', 'A', '_', '.', '='), (at, char) => {
        fc.pre(text[at] !== char);
        expect(mine.open(text.slice(0, at) + char + text.slice(at + 1))).toBeUndefined();
        expect(mine.open(text.slice(0, at))).toBeUndefined();
        expect(mine.open(text.slice(0, at) + char + text.slice(at)) === undefined).toBe(
          char !== '',
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('is not opened for another account, nor by another deployment', () => {
    expect(vault.sealOf('theirs').open(sealed())).toBeUndefined();
    const other = createReasoningVault(() => ['another secret']).sealOf('mine');
    expect(other.open(sealed())).toBeUndefined();
  });

  it('is opened after the secret was replaced, for as long as the old one is known', () => {
    const during = createReasoningVault(() => ['the new one', 'the secret']).sealOf('mine');
    const after = createReasoningVault(() => ['the new one']).sealOf('mine');
    const [old, recent] = [sealed(), sealed(THOUGHT, during)];
    expect(during.open(old)?.reasoning).toEqual(THOUGHT);
    expect(after.open(recent)?.reasoning).toEqual(THOUGHT);
    expect(after.open(old)).toBeUndefined();
    expect(mine.open(recent)).toBeUndefined();
  });

  it('is never too long for the client to send it again with each request', () => {
    const ofLength = (length: number) =>
      mine.seal(ORIGIN, { type: 'redacted_thinking', data: 'x'.repeat(length) });
    const longest = ofLength(REASONING_BYTES_MAX - 100);
    expect(mine.open(longest ?? '')).toBeDefined();
    expect(ofLength(REASONING_BYTES_MAX)).toBeUndefined();
  });

  it('does not exist before there is a secret', () => {
    const secrets: string[] = [];
    const late = createReasoningVault(() => secrets);
    expect(late.sealOf('mine').seal(ORIGIN, THOUGHT)).toBeUndefined();
    expect(late.sealOf('mine').open(sealed())).toBeUndefined();
    expect(late.sealOf('mine').isReady()).toBe(false);
    secrets.push('the secret');
    expect(late.sealOf('mine').open(sealed())).toBeDefined();
    expect(late.sealOf('mine').isReady()).toBe(true);
  });
});
