import { pack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { decodeChange } from '../../src/redis/listen-for-changes.ts';

describe('a message on the channel of changes', () => {
  it('tells what changed, and when', () => {
    const message = pack([1, 'key', '03thekey001', 7, 'revoked', '1700000000000']);
    expect(decodeChange(message)).toEqual({
      subject: 'key',
      id: '03thekey001',
      version: 7,
      status: 'revoked',
      changedMs: 1_700_000_000_000,
    });
  });

  it('of an earlier version does not tell when', () => {
    const message = pack([1, 'key', '03thekey001', 7, 'revoked']);
    expect(decodeChange(message)).toMatchObject({ id: '03thekey001', changedMs: undefined });
  });

  it.each([
    ['of a later version', pack([2, 'key', '03thekey001', 7, 'revoked'])],
    ['about something else', pack([1, 'plan', 'pro', 7, 'active'])],
    ['without an id', pack([1, 'key', 5, 7, 'revoked'])],
    ['that is no list', pack({ subject: 'key' })],
    ['that is cut', pack([1, 'key', '03thekey001', 7, 'revoked']).subarray(0, 9)],
    ['that is empty', Buffer.alloc(0)],
  ])('is let pass when it is one %s', (_, message) => {
    expect(decodeChange(message)).toBeUndefined();
  });
});
