import { describe, expect, it } from 'vitest';
import {
  checkVersion,
  wantsBetaContext,
} from '../../../../../src/protocol/native/requests/decode-headers.ts';

const from = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name];

describe('the version of a native request', () => {
  for (const name of ['llm-version', 'anthropic-version']) {
    for (const version of ['2023-06-01', '2026-10-21']) {
      it(`may be ${version} in ${name}`, () => {
        expect(() => checkVersion(from({ [name]: version }))).not.toThrow();
      });
    }
  }

  it('is required', () => {
    expect(() => checkVersion(from({}))).toThrow('llm-version: header is required');
    expect(() => checkVersion(from({ 'llm-version': '' }))).toThrow('header is required');
  });

  it('is one of those that exist', () => {
    expect(() => checkVersion(from({ 'anthropic-version': '2023-01-01' }))).toThrow(
      'llm-version: "2023-01-01" is not a valid version; use 2023-06-01 or 2026-10-21',
    );
  });

  it('is what llm-version says where both are sent', () => {
    const both = { 'llm-version': '1', 'anthropic-version': '2023-06-01' };
    expect(() => checkVersion(from(both))).toThrow('is not a valid version');
  });
});

describe('the wide context', () => {
  it('is asked for in a list of betas under either name', () => {
    expect(wantsBetaContext(from({ 'llm-beta': 'context-1m' }))).toBe(true);
    expect(wantsBetaContext(from({ 'anthropic-beta': 'a-beta, context-1m-2025-08-07' }))).toBe(
      true,
    );
  });

  it('is not asked for by other betas', () => {
    expect(wantsBetaContext(from({}))).toBe(false);
    expect(wantsBetaContext(from({ 'anthropic-beta': 'not-context-1m,context-2m' }))).toBe(false);
  });
});
