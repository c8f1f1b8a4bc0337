import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { messageOf } from '../../support/clients/ask-model.ts';
import { startBackend } from '../../support/servers/start-backend.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';

const CLIENTS = 32;
const REQUESTS = 6_000;
/** A request allocates about 34 KB. */
const PROMOTED_BYTES_MAX = 700;

it('what a request leaves behind dies young, however many there are at once', async () => {
  const backend = await startBackend('main');
  const gateway = await startGateway({
    config: `workers: 1\nupstreams: [{name: main, kind: native, url: "${backend.url}"}]\n`,
    nodeFlags: ['--trace-gc-nvp'],
  });
  // Objects that are made once may grow old, and so may objects in use when the whole heap is
  // collected. Later objects may not.
  await ask(gateway, REQUESTS, 'and collect');
  const before = readYoungCollections(gateway);
  await ask(gateway, REQUESTS);
  const collections = readYoungCollections(gateway).slice(before.length);
  expect(collections.length).toBeGreaterThan(5);
  const promotedBytes = collections.reduce((sum, { promoted }) => sum + promoted, 0);
  expect(promotedBytes / REQUESTS).toBeLessThan(PROMOTED_BYTES_MAX);
});

async function ask({ url, key }: Gateway, requests: number, more?: 'and collect'): Promise<void> {
  const pool = new Pool(url, { connections: CLIENTS });
  const headers = {
    'content-type': 'application/json',
    'x-api-key': key(),
    'llm-version': '2023-06-01',
  };
  const body = JSON.stringify(messageOf('hello'));
  let left = requests;
  const askInTurn = async () => {
    while (left > 0) {
      left--;
      if (more !== undefined && left === requests / 2) await fetch(`${url}/probe/collect`);
      const answer = await pool.request({ method: 'POST', path: '/v1/messages', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, askInTurn));
  await pool.close();
}

/** The young collections of the worker, as the engine reports them. */
function readYoungCollections(gateway: Gateway): { readonly promoted: number }[] {
  const [worker] = gateway.workerPids();
  return gateway
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith(`[${worker}:`) && line.includes('gc=s '))
    .map((line) => ({ promoted: Number(/ promoted=(\d+)/.exec(line)?.[1]) }));
}
