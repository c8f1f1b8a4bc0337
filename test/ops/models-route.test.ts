import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';

const configOf = (price: number) => `${FAST_CONFIG}
models:
  - id: llm-tiny-1.0
    aliases: [tiny, small]
    context_length: 9000
    beta_context_length: 90000
    max_output_tokens: 500
    price: {input: ${price}, output: 8, web_search: 7}
    routes: [{upstream: simulated, weight: 3, priority: 2}]
  - {id: llm-plain-1.0, context_length: 8000, max_output_tokens: 400, price: {input: 1, output: 2}}
`;

it('the models are told with their windows, prices and routes, after a reload the new ones', async () => {
  const gateway = await startGateway({ config: configOf(4) });
  const operator = admin(gateway);
  expect(await operator.call('GET', '/models')).toEqual({
    data: [
      {
        ...{ id: 'llm-tiny-1.0', aliases: ['tiny', 'small'], embeddings: false },
        ...{ context_length: 9000, beta_context_length: 90_000, max_output_tokens: 500 },
        price: {
          input: 4,
          output: 8,
          cache_read: 0.4,
          cache_write_5m: 5,
          cache_write_1h: 8,
          web_search: 7,
        },
        routes: [{ upstream: 'simulated', weight: 3, priority: 2 }],
      },
      {
        ...{ id: 'llm-plain-1.0', aliases: [], embeddings: false },
        ...{ context_length: 8000, beta_context_length: null, max_output_tokens: 400 },
        price: {
          input: 1,
          output: 2,
          cache_read: 0.1,
          cache_write_5m: 1.25,
          cache_write_1h: 2,
          web_search: null,
        },
        routes: [{ upstream: 'simulated', weight: 1, priority: 1 }],
      },
    ],
  });
  gateway.setConfig(configOf(20));
  await operator.call('POST', '/reload', {});
  const { data } = await operator.call<{ data: { price: object }[] }>('GET', '/models');
  expect(data[0]?.price).toMatchObject({ input: 20, cache_read: 2 });
});
