import { haproxy, nginx, uwsProxy } from '../contestants/bare-proxies.ts';
import { lmnr, portkey } from '../contestants/node-peers.ts';
import { createTollgate, tollgate } from '../contestants/tollgate.ts';
import { type Scenario, type Stage, WHOLE_ANSWER } from '../scenario.ts';

const stageOf = (latencyMs: number, connections: number): Stage => ({
  answer: { latencyMs, events: 0, gapMs: 0 },
  contestants: [nginx, haproxy, uwsProxy, tollgate, portkey, lmnr],
  cases: [
    {
      name: `${latencyMs} ms, ${connections} requests at once`,
      ...{ format: 'native', bodyBytes: 512, status: 200 },
      load: { kind: 'closed-loop', generator: 'wrk', connections },
    },
  ],
});

export const slowUpstream: Scenario = {
  name: 'slow-upstream',
  title: 'an upstream that takes 20 ms and 1 s',
  shows: 'What is added to the time of the upstream while many requests wait for it.',
  unit: 'request',
  seconds: 4,
  warmUpSeconds: 12,
  rounds: 2,
  stages: [stageOf(20, 256), stageOf(1_000, 1_000)],
};

export const fewClients: Scenario = {
  name: 'few-clients',
  title: 'few clients, far from the limit',
  shows:
    'How much later an answer is than through nginx while there is room. Each client waits for its answer before it asks again.',
  unit: 'request',
  seconds: 3,
  warmUpSeconds: 12,
  rounds: 2,
  comparesLatency: true,
  stages: [
    {
      answer: WHOLE_ANSWER,
      contestants: [nginx, haproxy, uwsProxy, tollgate, portkey, lmnr],
      cases: [1, 8].map((connections) => ({
        name: `clients: ${connections}`,
        ...{ format: 'native', bodyBytes: 512, status: 200 },
        load: { kind: 'closed-loop', generator: 'wrk', connections },
      })),
    },
  ],
};

export const fixedRate: Scenario = {
  name: 'fixed-rate',
  title: 'fixed rates, a quarter and half of what the slowest of them reaches',
  shows:
    'How much later an answer is than through nginx at the same rate. Requests are due at fixed times whatever happened to those before, and latency counts from then (no coordinated omission).',
  unit: 'request',
  seconds: 5,
  warmUpSeconds: 12,
  rounds: 3,
  comparesLatency: true,
  stages: [
    {
      answer: WHOLE_ANSWER,
      contestants: [nginx, haproxy, uwsProxy, tollgate],
      cases: [
        { name: 'half of saturation', share: 0.5 },
        { name: 'a quarter of it', share: 0.25 },
      ].map(({ name, share }) => ({
        name,
        ...{ format: 'native', bodyBytes: 512, status: 200 },
        load: { kind: 'share-of-slowest', share, connectionsMax: 256 },
      })),
    },
  ],
};

export const workerTail: Scenario = {
  ...fixedRate,
  name: 'worker-tail',
  title: 'a worker that shares its core with nothing',
  shows:
    'How much later an answer is than through nginx if nothing but the worker needs its core: the primary is on the other one, with load, upstream and Redis. Only where that one is not full do the figures say something about the worker.',
  stages: [
    {
      answer: WHOLE_ANSWER,
      contestants: [
        nginx,
        createTollgate({ name: 'tollgate, the worker alone', isPrimaryElsewhere: true }),
        tollgate,
      ],
      cases: [0.5, 0.25, 0.125].map((share) => ({
        name: `${share} of saturation`,
        ...{ format: 'native', bodyBytes: 512, status: 200 },
        load: { kind: 'share-of-slowest', share, connectionsMax: 256 },
      })),
    },
  ],
};
