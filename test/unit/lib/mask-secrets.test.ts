import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../src/lib/mask-secrets.ts';

const KEY = 'sk-live-0123456789abcdef';
const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`);
const escapeAll = (text: string) =>
  [...text].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('');
const percentAll = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`).join('');

const WAYS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in JSON': (text) => JSON.stringify(text).slice(1, -1),
  'in JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  'in JSON with every character escaped': escapeAll,
  'in JSON with escaped slashes': (text) =>
    JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'in a URL': encodeURIComponent,
  'in a URL with every character escaped': percentAll,
  'in HTML': escapeHtml,
};

describe('a secret', () => {
  it.each(Object.entries(WAYS))('is masked where it stands %s', (_name, write) => {
    // If a secret ends with a backslash that is written as several, only the first is masked.
    const secrets = fc.stringMatching(/^[\x21-\x7e]{7,60}[\x21-\x5b\x5d-\x7e]$/);
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (secret, before, behind) => {
        // The spaces keep the text around the secret from changing how the secret begins or ends,
        // and what precedes it from being a secret that the end of a text cuts off.
        const text = `${before} ${write(secret)} ${behind}`;
        const masked = maskSecrets(text, ['another secret', secret]);
        expect(masked).toContain('*****');
        if (before.includes(secret) || behind.includes(secret)) return;
        expect(masked).toBe(
          `${maskSecrets(`${before} `, [secret])}***** ${maskSecrets(behind, [secret])}`,
        );
      }),
      { examples: [['beginning!!!!!', 'beginning', '']] },
    );
  });

  it('is masked where a part of it looks like an escape', () => {
    for (const secret of ['\\x00!!!!!!]', 'a\\u0041bcdefgh', 'abcdefg%41']) {
      for (const write of Object.values(WAYS)) {
        expect(maskSecrets(`got ${write(secret)} here`, [secret])).toBe('got ***** here');
      }
    }
  });

  it('is masked each time, and all of them', () => {
    const text = `${KEY}, other-secret and ${KEY}${KEY}.`;
    expect(maskSecrets(text, [KEY, 'other-secret'])).toBe('*****, ***** and **********.');
  });

  it('is masked as a whole where another one is its beginning', () => {
    expect(maskSecrets('Bearer abcdefgh12345678!', ['Bearer a', 'Bearer abcdefgh12345678'])).toBe(
      '*****!',
    );
  });

  it('is masked where a server has cut it', () => {
    expect(maskSecrets(`got ${KEY.slice(0, 16)}… of you`, [KEY])).toBe('got *****… of you');
    expect(maskSecrets(`got ${KEY.slice(0, 8)}`, [KEY])).toBe('got *****');
  });

  it('is left where a server has masked it', () => {
    const text = 'Incorrect key provided: sk-live-****cdef.';
    expect(maskSecrets(text, [KEY])).toBe(text);
  });

  it('of fewer than 8 characters is masked as a word of its own only', () => {
    const text = 'tenant=abc123; "abc123" xabc123 abc1234 abc12';
    expect(maskSecrets(text, ['abc123'])).toBe('tenant=*****; "*****" xabc123 abc1234 abc12');
  });
});

it('a text without secrets stays as it is', () => {
  const secret = fc.stringMatching(/^[\x21-\x7e]{8,60}$/);
  fc.assert(
    fc.property(fc.string({ maxLength: 7 }), secret, (text, other) => {
      expect(maskSecrets(text, [other])).toBe(text);
    }),
  );
  expect(maskSecrets('100% of \\n & so on', [KEY])).toBe('100% of \\n & so on');
});
