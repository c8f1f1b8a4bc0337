import { describe, expect, it } from 'vitest';
import { readApiKey } from '../../../src/keys/read-api-key.ts';
import { encodeHybridRefusal } from '../../../src/protocol/encode-hybrid-refusal.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';

const read = (headers: Record<string, string>) => readApiKey((name) => headers[name]);

describe('the key of a request', () => {
  it('is taken from either header, and from x-api-key when both are there', () => {
    expect(read({ 'x-api-key': 'sk-gw2-a' })).toBe('sk-gw2-a');
    expect(read({ authorization: 'Bearer sk-gw2-b' })).toBe('sk-gw2-b');
    expect(read({ authorization: 'bearer  sk-gw2-b ' })).toBe('sk-gw2-b');
    expect(read({ 'x-api-key': 'sk-gw2-a', authorization: 'Bearer sk-gw2-b' })).toBe('sk-gw2-a');
    expect(read({ 'x-api-key': '', authorization: 'Bearer sk-gw2-b' })).toBe('sk-gw2-b');
  });

  it('is found beside a key of a vendor, in whichever header that is', () => {
    const foreign = 'sk-other-family-1234567';
    expect(read({ 'x-api-key': foreign, authorization: 'Bearer sk-gw2-b' })).toBe('sk-gw2-b');
    expect(read({ 'x-api-key': 'sk-gw2-a', authorization: `Bearer ${foreign}` })).toBe('sk-gw2-a');
  });

  it.each([
    [{}],
    [{ 'x-api-key': 'sk-other-family-1234567', authorization: 'Bearer sk-other-family-7654321' }],
    [{ authorization: 'Basic c2stZ3cyLWE=' }],
    [{ authorization: 'Bearer' }],
    [{ 'x-api-key': 'sk-other-family-1234567' }],
    [{ authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.login.token' }],
  ])('is refused with 401, and not to be tried again: %o', (headers) => {
    let refusal: unknown;
    try {
      read(headers);
    } catch (error) {
      refusal = error;
    }
    if (!(refusal instanceof Refusal)) throw new Error('it was let in');
    expect(refusal.status).toBe(401);
    expect(refusal.headers).toEqual({ 'x-should-retry': 'false' });
    const said = encodeHybridRefusal(refusal, 'req_1') + refusal.chatMessage;
    for (const [, sent] of JSON.stringify(headers).matchAll(/([\w.-]{16,})"/g)) {
      expect(said).not.toContain(sent);
    }
  });
});
