import { expect, it } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { revealHeaders } from '../../src/upstream/reveal-headers.ts';

it('an upstream is sent once who asks, as the settings say it if they do', () => {
  const team = { 'x-team': new Secret('blue') };
  expect(revealHeaders(team)).toEqual(['user-agent', 'tollgate', 'x-team', 'blue']);
  const named = { 'user-agent': new Secret('agent/1'), ...team };
  expect(revealHeaders(named)).toEqual(['user-agent', 'agent/1', 'x-team', 'blue']);
});
