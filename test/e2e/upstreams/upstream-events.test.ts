import { expect, it } from 'vitest';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { type HeardEvent, listenToEvents } from '../../support/clients/listen-to-events.ts';
import { type Backend, startBackend } from '../../support/servers/start-backend.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const configFor = ({ url }: Backend, settings = '') =>
  `workers: 2\nupstreams: [{name: main, kind: native, url: "${url}"${settings}}]\n`;

const ask = (gateway: Gateway) => askModel(gateway.url, gateway.key(), messageOf('Hi'));

/** The changes of upstreams, in order. */
function changesIn(events: readonly HeardEvent[]) {
  return events.filter(({ type }) => type === 'upstream').map(({ data }) => data);
}

/** Expects that each event begins in the state in which the event before has ended. */
function expectToFollow(changes: readonly HeardEvent['data'][]): void {
  const states = changes.map(({ state }) => state);
  expect(changes.map(({ before }) => before)).toEqual(['closed', ...states.slice(0, -1)]);
  expect(new Set(changes.map(({ upstream }) => upstream))).toEqual(new Set(['main']));
}

it('tells when requests find an upstream broken, and when they find it well again', async () => {
  const main = await startBackend('main');
  const gateway = await startGateway({ config: configFor(main) });
  const heard = await listenToEvents(gateway);
  const states = () => changesIn(heard()).map(({ state }) => state);
  expect((await ask(gateway)).status).toBe(200);
  await main.stop();
  await waitUntil(async () => {
    await ask(gateway);
    return states().includes('open');
  }, 'it is told to be open');
  await main.start();
  await waitUntil(async () => {
    await ask(gateway);
    return states().at(-1) === 'closed';
  }, 'it is told to be closed');
  expectToFollow(changesIn(heard()));
});

it('tells when the probe does, and nothing twice', async () => {
  const main = await startBackend('main');
  const gateway = await startGateway({
    config: configFor(main, ', probe: {interval: 100ms, timeout: 5s}'),
  });
  const heard = await listenToEvents(gateway);
  const changes = () => changesIn(heard());
  main.statuses.probes = 500;
  await waitUntil(() => changes().length === 1, 'it is told to be down');
  main.statuses.probes = 200;
  await waitUntil(() => changes().length === 2, 'it is told to be back');
  expect(changes()).toMatchObject([
    { upstream: 'main', state: 'down', before: 'closed' },
    { upstream: 'main', state: 'closed', before: 'down' },
  ]);
});
