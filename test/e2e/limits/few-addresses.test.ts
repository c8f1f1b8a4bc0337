import { execFileSync } from 'node:child_process';
import { afterAll, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { goodAnswer } from '../../support/upstreams/upstream-answers.ts';
import { useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

/** More address space than a worker uses, and less than the memory of WebAssembly reserves. */
const ADDRESS_BYTES_MAX = 4 * 1024 ** 3;

it('a worker that may have few addresses serves large requests all the same', async () => {
  const [pid] = scene.gateway().workerPids();
  execFileSync('prlimit', ['--pid', String(pid), `--as=${ADDRESS_BYTES_MAX}`]);
  const place = await scene.take('native', { script: () => goodAnswer('native', false) });
  const prompt = 'Tell me about Rīga. '.repeat(2_000).trim();
  for (let number = 0; number < 2; number += 1) {
    expect(await place.ask('native', false, prompt)).toMatchObject({ status: 200 });
  }
  for (const { body } of place.requests()) {
    expect(JSON.parse(body)).toMatchObject({ messages: [{ role: 'user', content: prompt }] });
  }
  expect(place.requests()).toHaveLength(2);
});
