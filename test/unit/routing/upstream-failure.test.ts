import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import {
  REFUSALS,
  Refusal,
  type RefusalDetails,
  type RefusalName,
} from '../../../src/protocol/refusals.ts';
import { classifyFailure, UpstreamFailure } from '../../../src/routing/upstream-failure.ts';

describe('a failure of an upstream', () => {
  it('is, for the client, the refusal that it carries', () => {
    const details: Required<RefusalDetails> = {
      param: 'max_tokens',
      headers: { 'x-should-retry': 'false' },
      chatMessage: 'max_completion_tokens is too large',
      chatCode: 'integer_above_max_value',
      nativeDetails: { error_code: 'too_many' },
      denial: 'request',
      isOversize: true,
      reportedUsage: NO_USAGE,
      reason: 'status 400',
    };
    const refusal = new Refusal('invalid_request', 'max_tokens: too many', details);
    const failure = new UpstreamFailure('refused', refusal);
    expect(failure).toBeInstanceOf(Refusal);
    const { status, message } = refusal;
    expect(failure).toMatchObject({ status, message, ...details });
  });

  it('says to the client when to come back, in a way that old and new clients obey', () => {
    const overloaded = new Refusal('upstream_overloaded', 'Overloaded');
    const waits = [1, 1_001, 3_600_000].map(
      (retryAfterMs) =>
        new UpstreamFailure('overloaded', overloaded, { retryAfterMs }).headers['retry-after'],
    );
    expect(waits).toEqual(['1', '2', '59']);
    const silent = new UpstreamFailure('overloaded', overloaded);
    expect(silent.headers).toEqual({ 'retry-after': '1' });
    expect(silent.retryAfterMs).toBe(0);
  });

  it('is not to be repeated by the client either, if the answer was too large to read', () => {
    const oversized = new Refusal('upstream_broken', 'Too large', { isOversize: true });
    expect(classifyFailure(oversized)).toMatchObject({
      kind: 'refused',
      headers: { 'x-should-retry': 'false' },
    });
    const broken = classifyFailure(new Refusal('upstream_broken', 'Broken'));
    expect(broken?.headers).toEqual({});
  });

  it('stays what it is when it is classified', () => {
    const failure = new UpstreamFailure('unreachable', new Refusal('upstream_broken', 'Refused'));
    expect(classifyFailure(failure)).toBe(failure);
  });

  it('is read from the name of a plain refusal: those for the client are final, those of the server are not', () => {
    const kinds = Object.keys(REFUSALS).map((name) => [
      name,
      classifyFailure(new Refusal(name as RefusalName, 'no'))?.kind,
    ]);
    const { rate_limited, ...others } = Object.fromEntries(kinds);
    expect(rate_limited).toBe('overloaded');
    expect(others).toMatchObject({
      unavailable: 'overloaded',
      upstream_overloaded: 'overloaded',
      answer_too_slow: 'slow',
      upstream_broken: 'broken',
      upstream_denied: 'denied',
      fault: 'broken',
    });
    for (const [name, kind] of Object.entries(others)) {
      expect(kind === 'refused', name).toBe(REFUSALS[name as RefusalName].status < 500);
    }
  });

  it('is nobody but the request when the answer is too large to be read', () => {
    const refusal = new Refusal('upstream_broken', 'Too large', { isOversize: true });
    expect(classifyFailure(refusal)?.kind).toBe('refused');
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['-1', 0],
    ['soon', 0],
    ['Infinity', 0],
  ])('reads a retry-after of %s', (value, ms) => {
    const refusal = new Refusal('upstream_overloaded', 'Overloaded', {
      headers: { 'retry-after': value },
    });
    expect(classifyFailure(refusal)?.retryAfterMs).toBe(ms);
  });

  it('is nothing that was not meant as a refusal', () => {
    expect(classifyFailure(new TypeError('x is undefined'))).toBeUndefined();
  });
});
