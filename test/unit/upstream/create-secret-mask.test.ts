import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/lib/secret.ts';
import { createSecretMask } from '../../../src/upstream/create-secret-mask.ts';

interface Given {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function mask(text: string, { apiKey, headers = {} }: Given): string {
  const secrets = Object.entries(headers).map(
    ([name, value]) => [name, new Secret(value)] as const,
  );
  return createSecretMask({
    apiKey: apiKey === undefined ? undefined : new Secret(apiKey),
    headers: Object.fromEntries(secrets),
  })(text);
}

describe('the mask of an upstream', () => {
  it('hides its key and the values of its headers', () => {
    const headers = { 'x-vendor-token': 'token-of-vendor', 'x-other': 'other value' };
    const text = 'got sk-0123456789, token-of-vendor and other value';
    expect(mask(text, { apiKey: 'sk-0123456789', headers })).toBe('got *****, ***** and *****');
  });

  it('hides what of a header may be repeated without the rest', () => {
    const told = (header: string, text: string, name = 'authorization') =>
      mask(text, { headers: { [name]: header } });
    expect(told('Bearer sesame-open', 'no such token: sesame-open')).toBe('no such token: *****');
    expect(told('key=abcdefgh1234, v=2', 'bad key abcdefgh1234', 'x-key')).toBe('bad key *****');
    const basic = `Basic ${Buffer.from('tollgate:open sesame').toString('base64')}`;
    expect(told(basic, `${basic}; ${basic.slice(6)}`)).toBe('*****; *****');
    expect(told(basic, 'tollgate:open sesame, open sesame')).toBe('*****, *****');
  });

  it('leaves short values that are a word or a number, and the words of long ones', () => {
    const text = 'ollama has no model EMPTY 1234567 for the gateway.';
    expect(mask(text, { apiKey: 'ollama', headers: { a: 'EMPTY', b: '1234567' } })).toBe(text);
    expect(mask(text, { headers: { 'user-agent': 'the gateway of gateways' } })).toBe(text);
    expect(mask('hunter2 is wrong, a1 is right', { apiKey: 'hunter2', headers: { a: 'a1' } })).toBe(
      '***** is wrong, a1 is right',
    );
  });
});
