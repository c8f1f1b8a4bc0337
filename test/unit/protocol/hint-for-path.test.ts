import { expect, it } from 'vitest';
import { hintForPath } from '../../../src/protocol/hint-for-path.ts';

it.each([
  ['/v1/v1/messages', 'the path is /v1/messages.'],
  ['/v1/v1/chat/completions', 'the path is /v1/chat/completions.'],
  ['/messages', 'the path is /v1/messages.'],
  ['/chat/completions', 'the path is /v1/chat/completions.'],
  ['/models', 'the path is /v1/models.'],
  ['/responses', 'the path is /v1/responses.'],
  ['/v1/conversations', 'POST /v1/responses'],
  ['/v1/completions', 'POST /v1/messages'],
  ['/embeddings', 'the path is /v1/embeddings.'],
  ['//v1/chat/completions', 'the path is /v1/chat/completions.'],
  ['/v1//messages', 'the path is /v1/messages.'],
  ['/v1/chat/completions/', 'the path is /v1/chat/completions.'],
  ['//messages/', 'the path is /v1/messages.'],
  ['/v1/v1//responses', 'the path is /v1/responses.'],
  ['/v1/chat/completions/chat/completions', 'the path is /v1/chat/completions.'],
  ['/v1/chat/completions/models', 'the path is /v1/models.'],
  ['/v1/messages/v1/messages', 'the path is /v1/messages.'],
  ['/v1/messages/v1/messages/count_tokens', 'the path is /v1/messages/count_tokens.'],
])('tells somebody who asked for %s where to go', (path, hint) => {
  expect(hintForPath(path)).toContain(hint);
});

it('has no hint for a path that nobody mistakes for another', () => {
  expect(hintForPath('/favicon.ico')).toBeUndefined();
  expect(hintForPath('/v1/messages')).toBeUndefined();
  expect(hintForPath('/v1/messages/count_tokens')).toBeUndefined();
  expect(hintForPath('/')).toBeUndefined();
  expect(hintForPath('//')).toBeUndefined();
  expect(hintForPath('//favicon.ico/')).toBeUndefined();
});
