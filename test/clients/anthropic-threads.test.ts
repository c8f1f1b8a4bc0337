import * as sdk1 from 'anthropic-sdk-1';
import { betaTool } from 'anthropic-sdk-1/helpers/beta/json-schema';
import { describe, expect, it } from 'vitest';
import { countStatuses } from '../support/clients/count-statuses.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const MODEL = 'llm-haiku-4.5';

describe.each([false, true])(
  'the tool runner of the native client library, streaming: %s',
  (stream) => {
    it('sends the whole conversation, since nobody keeps a thread for it', async () => {
      const bodies: { thread?: unknown; messages: unknown[] }[] = [];
      const statuses: number[] = [];
      const count = countStatuses(statuses);
      const client = new sdk1.default({
        apiKey: gateway().key(),
        baseURL: gateway().url,
        maxRetries: 0,
        fetch: (input, init) => {
          bodies.push(JSON.parse(String(init?.body)));
          return count(input, init);
        },
      });
      const cities: string[] = [];
      const runner = client.beta.messages.toolRunner({
        model: MODEL,
        max_tokens: 300,
        messages: [
          { role: 'user', content: 'Hello! [[tool get_weather {"city":"Oslo","days":2}]]' },
        ],
        tools: [
          betaTool({
            name: 'get_weather',
            description: 'The weather at a place',
            inputSchema: { type: 'object', properties: { city: { type: 'string' } } } as const,
            run: ({ city }) => {
              cities.push(String(city));
              return 'Sunny';
            },
          }),
        ],
        stream,
      });
      const answer = await runner.runUntilDone();
      expect(answer.stop_reason).toBe('end_turn');
      expect(cities).toEqual(['Oslo']);
      // The first request learns that there are no threads. All later requests do without them.
      expect(statuses).toEqual([400, 200, 200]);
      expect(bodies.map(({ thread }) => thread)).toEqual([
        { type: 'create' },
        undefined,
        undefined,
      ]);
      expect(bodies.map(({ messages }) => messages.length)).toEqual([1, 1, 3]);
    });
  },
);

describe('a message thread', () => {
  it('is refused in the words that client libraries go on from', async () => {
    const client = new sdk1.default({ apiKey: gateway().key(), baseURL: gateway().url });
    const asked = client.beta.messages.create({
      model: MODEL,
      max_tokens: 30,
      messages: [{ role: 'user', content: 'And?' }],
      thread: { type: 'continue', previous_message_id: 'msg_1' },
    });
    await expect(asked).rejects.toBeInstanceOf(sdk1.BadRequestError);
    await expect(asked).rejects.toMatchObject({
      status: 400,
      error: {
        error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
      },
    });
  });
});
