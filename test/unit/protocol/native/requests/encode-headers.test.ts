import { describe, expect, it } from 'vitest';
import { readBetas } from '../../../../../src/protocol/native/requests/decode-headers.ts';
import { encodeNativeHeaders } from '../../../../../src/protocol/native/requests/encode-headers.ts';

const betasOf = (headers: Readonly<Record<string, string>>) => readBetas((name) => headers[name]);

describe('the headers for a native upstream', () => {
  const VERSION = ['anthropic-version', '2023-06-01'];

  it('are the version alone where nothing else is asked for', () => {
    expect(encodeNativeHeaders({ isBetaContext: false, betas: [] })).toEqual([VERSION]);
  });

  it('name the long context only where it is asked for, by the name that upstreams know', () => {
    expect(encodeNativeHeaders({ isBetaContext: true, betas: ['tomorrow-1'] })).toEqual([
      VERSION,
      ['anthropic-beta', 'tomorrow-1,context-1m-2025-08-07'],
    ]);
    expect(encodeNativeHeaders({ isBetaContext: false, betas: ['tomorrow-1'] })).toEqual([
      VERSION,
      ['anthropic-beta', 'tomorrow-1'],
    ]);
  });
});

describe('the betas of a client', () => {
  it('come from both headers, each once, without the long context', () => {
    expect(
      betasOf({ 'llm-beta': 'a-1, context-1m', 'anthropic-beta': 'b-2,a-1,context-1m-2025-08-07' }),
    ).toEqual(['a-1', 'b-2']);
    expect(betasOf({})).toEqual([]);
  });

  it('are no more than a header can carry', () => {
    expect(betasOf({ 'llm-beta': `ok,${'x'.repeat(129)},a b,\u00e4,a\r\nb,,` })).toEqual(['ok']);
    const many = Array.from({ length: 100 }, (_, i) => `beta-${i}`).join();
    expect(betasOf({ 'llm-beta': many })).toHaveLength(32);
  });
});
