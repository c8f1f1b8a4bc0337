import { createOpenAI } from '@ai-sdk/openai';
import { embedMany } from 'ai';
import { expect, it } from 'vitest';
import { ANSWER_BYTES_MAX } from '../../../../src/protocol/json/upstream-json.ts';
import { startGateway } from '../../../support/servers/start-gateway.ts';
import { startHttpUpstream } from '../../../support/upstreams/start-http-upstream.ts';
import { useCleanUp } from '../../../support/use-clean-up.ts';

const cleanUp = useCleanUp();

it('embeddings of too many bytes are asked for once, and refused in words that help', async () => {
  let calls = 0;
  const vendor = await startHttpUpstream({
    cleanUp,
    answer(_request, response) {
      calls += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [], more: 'x'.repeat(ANSWER_BYTES_MAX) }));
    },
  });
  const gateway = await startGateway({
    cleanUp,
    config: `
workers: 1
upstreams:
  - {name: vendor, kind: chat, url: '${vendor.url}/v1'}
models:
  - {id: embed, embeddings: true, price: {input: 1}, routes: [{upstream: vendor}]}
`,
  });
  const provider = createOpenAI({ apiKey: gateway.key(), baseURL: `${gateway.url}/v1` });
  const asked = embedMany({ model: provider.embeddingModel('embed'), values: ['a', 'b'] });
  await expect(asked).rejects.toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('send the inputs in several requests'),
  });
  expect(calls).toBe(1);
});
