import { beforeAll, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/upstreams/start-scripted-upstream.ts';
import { goodAnswer } from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

const KINDS = ['responses', 'native'] as const;

const cleanUp = useCleanUp();
let upstream: ScriptedUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream(cleanUp);
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const config = [
    'workers: 1',
    'models:',
    `  - {id: both, ${rest}, routes: [{upstream: responses}, {upstream: native, priority: 2}]}`,
    `  - {id: alone, ${rest}, routes: [{upstream: responses}]}`,
    'upstreams:',
    ...KINDS.map((kind) => `  - {name: ${kind}, kind: ${kind}, url: "${upstream.url}/${kind}"}`),
    '',
  ];
  gateway = await startGateway({ config: config.join('\n'), cleanUp });
  for (const kind of KINDS) {
    upstream.play(`/${kind}`, (_n, { body }) => [
      goodAnswer(kind, body.includes('"stream":true'), `From ${kind}.`),
    ]);
  }
});

async function ask(model: string, fields: object) {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': gateway.key(),
      'llm-version': '2023-06-01',
    },
    body: JSON.stringify({
      ...{ model, max_tokens: 64, messages: [{ role: 'user', content: 'Is it safe?' }] },
      ...fields,
    }),
  });
  return { status: response.status, text: await response.text() };
}

it.each([false, true])(
  'a request with a stop sequence goes to an upstream that knows it, streamed: %s',
  async (stream) => {
    const stops = { stop_sequences: ['</block>'], stream };
    expect((await ask('both', { stream })).text).toContain('From responses.');
    expect((await ask('both', stops)).text).toContain('From native.');
    const { status, text } = await ask('alone', stops);
    expect([status, text]).toEqual([400, expect.stringContaining('does not take stop sequences')]);
  },
);
