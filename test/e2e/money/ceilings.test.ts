import { describe, expect, it } from 'vitest';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const rejecting = useGateway({ config: FAST_CONFIG });
const clamping = useGateway({ config: `${FAST_CONFIG}limits: {over_ceiling: clamp}\n` });

async function send(
  gateway: ReturnType<typeof rejecting>,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.key(),
      'llm-version': '2023-06-01',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('a max_tokens above the ceiling of the model', () => {
  const body = { model: 'haiku', max_tokens: 9_000, ...ask('[[tokens 9000]]') };

  it('is refused with the ceiling', async () => {
    const answer = await send(rejecting(), body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: {
        message:
          'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for llm-haiku-4.5',
      },
    });
  });

  it('is lowered to it where the settings say so', async () => {
    const answer = await send(clamping(), body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      stop_reason: 'max_tokens',
      usage: { output_tokens: 8_192 },
    });
  });
});

describe('a prompt that is longer than the window', () => {
  const body = { model: 'opus', max_tokens: 20, ...ask('word '.repeat(140_000)) };

  it('is refused in the words that clients match on', async () => {
    const answer = await send(rejecting(), body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: {
        message: expect.stringMatching(/^prompt is too long: \d+ tokens > 200000 maximum$/),
      },
    });
  });

  it.each(['llm-beta', 'anthropic-beta'])('fits into the window that %s opens', async (header) => {
    const answer = await send(rejecting(), body, { [header]: 'other, context-1m-2025-08-07' });
    expect(answer.status).toBe(200);
  });

  it('does not fit where the model has no larger window', async () => {
    const answer = await send(
      rejecting(),
      { ...body, model: 'haiku' },
      { 'llm-beta': 'context-1m' },
    );
    expect(answer.status).toBe(400);
  });
});

describe('a prompt whose beginning is marked for the cache', () => {
  it('is written once and then read', async () => {
    const body = {
      model: 'sonnet',
      max_tokens: 20,
      system: [
        {
          type: 'text',
          text: 'You know a lot. '.repeat(200),
          cache_control: { type: 'ephemeral' },
        },
      ],
      ...ask('Hello'),
    };
    const first = await send(rejecting(), body);
    const second = await send(rejecting(), body);
    const written = (first.body['usage'] as Record<string, number>)['cache_creation_input_tokens'];
    expect(written).toBeGreaterThan(0);
    expect(first.body).toMatchObject({ usage: { cache_read_input_tokens: 0 } });
    expect(second.body).toMatchObject({
      usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: written },
    });
  });
});
