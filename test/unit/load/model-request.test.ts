import { describe, expect, it } from 'vitest';
import { createModelRequest } from '../../../src/load/create-model-request.ts';

const requestOf = (bodyBytes?: number) =>
  createModelRequest({
    ...{ format: 'chat', model: 'haiku', key: 'sk-gw2-any', isStream: false },
    bodyBytes,
  });

describe('the body of a request of a load', () => {
  it('is exactly as long as was asked for', () => {
    for (const bytes of [200, 201, 1_023, 100_000]) {
      expect(requestOf(bytes).body.length).toBe(bytes);
    }
  });

  it('is as short as it can be when less or nothing was asked for', () => {
    const { body } = requestOf();
    expect(body.length).toBeLessThan(150);
    expect(requestOf(10).body).toEqual(body);
  });
});
