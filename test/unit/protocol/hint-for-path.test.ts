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
])('tells somebody who asked for %s where to go', (path, hint) => {
  expect(hintForPath(path)).toContain(hint);
});

it('has no hint for a path that nobody mistakes for another', () => {
  expect(hintForPath('/favicon.ico')).toBeUndefined();
  expect(hintForPath('/v1/messages')).toBeUndefined();
});
