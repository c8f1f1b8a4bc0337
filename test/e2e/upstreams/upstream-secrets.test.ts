import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type ClientFormat, postQuestion } from '../../support/clients/ask-gateway.ts';
import { listenToEvents } from '../../support/clients/listen-to-events.ts';
import { type Collector, startCollector } from '../../support/servers/start-collector.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  API_KEY,
  BASIC,
  COMPLAINT,
  complain,
  echo,
  PLACES,
  TOKEN,
  TRACES,
} from '../../support/upstreams/echoes.ts';
import {
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/upstreams/start-scripted-upstream.ts';
import { answerOf, goodAnswer } from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

/** Kinds of upstreams, each with its own clients first. */
const CLIENTS = {
  native: ['native', 'chat'],
  chat: ['chat', 'native'],
  responses: ['responses'],
} as const;
const KINDS = ['native', 'chat', 'responses'] as const;
/**
 * Every test has its own upstream, since each upstream has its own health. They differ in their
 * paths.
 */
const UPSTREAMS = 60;

/** A gateway in front of upstreams of one kind. Call it at the top of a block. */
function useEchoes(kind: ClientFormat) {
  const cleanUp = useCleanUp();
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  let collector: Collector;
  let key: string;
  let taken = 0;

  beforeAll(async () => {
    upstream = await startScriptedUpstream(cleanUp);
    collector = await startCollector({ cleanUp });
    const config = encodeConfig(kind, upstream.url, collector.endpoint);
    gateway = await startGateway({ cleanUp, config });
    const operator = admin(gateway);
    ({ key } = await operator.createKey(await operator.createAccount()));
  });
  return {
    gateway: () => gateway,
    collector: () => collector,
    /** The model of the next upstream, which plays this script. */
    play(script: Script): string {
      taken += 1;
      if (taken > UPSTREAMS) throw new Error(`there are only ${UPSTREAMS} upstreams`);
      upstream.play(`/place-${taken}`, script);
      return `place-${taken}`;
    },
    /** The whole answer as far as a client can see it. */
    async ask(model: string, format: ClientFormat, isStream: boolean) {
      const response = await postQuestion({ url: gateway.url, key, model, format, isStream });
      const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
      return {
        requestId: response.headers.get('request-id') ?? '',
        told: [response.status, ...headers, await response.text()].join('\n'),
      };
    },
  };
}

function encodeConfig(kind: ClientFormat, url: string, endpoint: string): string {
  const names = Array.from({ length: UPSTREAMS }, (_, index) => `place-${index + 1}`);
  const token = `x-vendor-token: ${JSON.stringify(TOKEN)}`;
  const secrets =
    kind === 'chat'
      ? `headers: {authorization: "Basic ${BASIC}", ${token}}`
      : `api_key: ${JSON.stringify(API_KEY)}, headers: {${token}}`;
  const free = 'max_output_tokens: 1000, price: {input: 0, output: 0}';
  return [
    'workers: 1',
    'log_level: debug',
    'request_log: all',
    `tracing: {endpoint: "${endpoint}"}`,
    'models:',
    ...names.map((name) => `  - {id: ${name}, ${free}, routes: [{upstream: ${name}}]}`),
    'upstreams:',
    ...names.map((name) => `  - {name: ${name}, kind: ${kind}, url: "${url}/${name}", ${secrets}}`),
    '',
  ].join('\n');
}

const tracesIn = (text: string) => TRACES.filter((trace) => text.includes(trace));

describe.each(KINDS)('what an upstream of kind %s echoes', (kind) => {
  const echoes = useEchoes(kind);

  describe.each(CLIENTS[kind])('does not reach a client of format %s', (format) => {
    it.each(Object.entries(PLACES))('in %s', async (_name, { isStream, tellsWords, steps }) => {
      let words = '';
      const model = echoes.play((_number, request) => {
        words = echo(request);
        return steps(kind, words);
      });
      const { told } = await echoes.ask(model, format, isStream);
      expect(tracesIn(words).length, 'there is something to steal').toBeGreaterThanOrEqual(4);
      expect(tracesIn(told)).toEqual([]);
      if (tellsWords === true) expect(told).toContain(COMPLAINT);
    });
  });

  it('is in no log, no span, no event, no receipt and no ledger', async () => {
    const gateway = echoes.gateway();
    const events = await listenToEvents(gateway);
    const model = echoes.play((number, request) =>
      number === 1 ? [answerOf(400, complain(kind, echo(request)))] : [goodAnswer(kind, false)],
    );
    const refused = await echoes.ask(model, 'native', false);
    const answered = await echoes.ask(model, 'native', false);
    const isIn = (text: string) =>
      text.includes(refused.requestId) && text.includes(answered.requestId);
    const spans = () => JSON.stringify(echoes.collector().spans);
    await waitUntil(() => events().some(({ type }) => type === 'summary'), 'an event has come');
    await waitUntil(() => isIn(spans()), 'the spans have come');
    await waitUntil(() => isIn(gateway.stderr()), 'the lines are written');
    const told = [gateway.stderr(), gateway.stdout(), JSON.stringify(events()), spans()];
    const token = readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
    for (const path of ['ledger', 'cluster', 'models', 'audit', `requests/${answered.requestId}`]) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${gateway.opsUrl}/admin/v1/${path}`, { headers });
      expect(response.status, path).toBe(200);
      told.push(await response.text());
    }
    expect(tracesIn(told.join('\n'))).toEqual([]);
  });
});
