import { expect, it } from 'vitest';
import { EVENT_SCHEMAS, eventAnswer } from '../../../src/ops/schemas/event-schemas.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { listenToEvents } from '../../support/clients/listen-to-events.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

it('a node tells of its requests each second, of its workers and of its reloads', async () => {
  const gateway = await startGateway({ config: FAST_CONFIG });
  const heard = await listenToEvents(gateway);
  const ofType = (type: string) => heard().filter((event) => event.type === type);
  const sum = (field: string) =>
    ofType('summary').reduce((total, { data }) => total + Number(data[field]), 0);

  const answered = await askModel(gateway.url, gateway.key(), messageOf('[[tokens 50]]'));
  const charged = Number(answered.headers.get('x-tollgate-credits-charged'));
  const streamed = messageOf('Hi', { stream: true });
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway.key(),
      'llm-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify(streamed),
  });
  await response.text();
  expect(
    (await askModel(gateway.url, gateway.key(), messageOf('x', { model: 'none' }))).status,
  ).toBe(404);
  await waitUntil(() => sum('requests') === 3, 'all requests are told');
  expect([sum('streams'), sum('refused')]).toEqual([1, 1]);
  expect(sum('credits')).toBeGreaterThan(charged);
  const summaries = ofType('summary').map(({ data }) => EVENT_SCHEMAS.summary.parse(data));
  expect(summaries.some(({ refusals }) => refusals['unknown_model'] === 1)).toBe(true);
  for (const { requests, latency_ms: latency } of summaries) {
    expect(latency !== null).toBe(requests > 0);
    if (latency === null) continue;
    expect(latency.p50).toBeGreaterThan(0);
    expect(latency.p99).toBeGreaterThanOrEqual(latency.p50);
  }
  expect(summaries.some(({ first_event_ms: firstEvent }) => firstEvent !== null)).toBe(true);

  const [pid = 0] = gateway.workerPids();
  process.kill(pid, 'SIGKILL');
  const statesOf = (worker: unknown) =>
    ofType('worker')
      .filter(({ data }) => data['pid'] === worker)
      .map(({ data }) => data['state']);
  await waitUntil(() => statesOf(pid).includes('died'), 'its death is told');
  expect(ofType('worker').find(({ data }) => data['state'] === 'died')?.data).toMatchObject({
    ...{ worker: 1, pid, signal: 'SIGKILL' },
  });
  await waitUntil(
    () => ofType('worker').some(({ data }) => data['state'] === 'listening'),
    'its replacement is told',
  );

  gateway.setConfig('workers: none\n');
  gateway.signal('SIGHUP');
  await waitUntil(() => ofType('reload').length === 1, 'the refusal is told');
  expect(ofType('reload')[0]?.data).toMatchObject({ status: 'refused', who: { via: 'signal' } });
  gateway.setConfig(FAST_CONFIG);
  gateway.signal('SIGHUP');
  await waitUntil(() => ofType('reload').length === 2, 'the reload is told');
  expect(ofType('reload')[1]?.data).toMatchObject({
    ...{ status: 'reloaded', config_version: expect.stringMatching(/-2$/) },
  });
  for (const { type, data } of heard()) eventAnswer.parse({ event: type, data });
});
