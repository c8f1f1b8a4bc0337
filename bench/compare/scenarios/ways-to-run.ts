import { createTollgate, type TollgateOptions } from '../contestants/tollgate.ts';
import { type Scenario, type Stage, WHOLE_ANSWER } from '../scenario.ts';

const LOAD = { kind: 'closed-loop', generator: 'wrk', connections: 64 } as const;
const CASE = { format: 'native', bodyBytes: 512, load: LOAD } as const;
const SERVED = { ...CASE, name: 'native, 0.5 KB', status: 200 } as const;
const TURNS = { unit: 'request', seconds: 3, warmUpSeconds: 12, rounds: 3 } as const;

/** Compares Tollgate with itself in other configurations. */
const compare = (options: readonly TollgateOptions[]): Stage => ({
  answer: WHOLE_ANSWER,
  contestants: options.map(createTollgate),
  cases: [SERVED],
});

const refuse = (name: string, clients: TollgateOptions['clients'], status: number): Stage => ({
  answer: WHOLE_ANSWER,
  contestants: [createTollgate({ ...(clients && { clients }) })],
  cases: [{ ...CASE, name, status }],
});

export const refusals: Scenario = {
  name: 'refusals',
  title: 'what refusing costs',
  shows:
    'All requests are refused, beside one case where all are served. Over the rate limit Redis is asked each time (one request of 10 s is let in, and counts as a failure here). Of an unknown key a worker knows for 5 s that it is unknown; with ever new ones Redis is asked each time.',
  ...TURNS,
  stages: [
    refuse('served', 'one-key', 200),
    refuse('over the rate limit', 'over-limit', 429),
    refuse('an unknown key', 'unknown-key', 401),
    refuse('ever new unknown keys', 'unknown-keys', 401),
  ],
};

export const keys: Scenario = {
  name: 'keys',
  title: '1 key, 10,000 and 1,000,000 keys',
  shows:
    'Whether it matters how many keys there are: requests come with all of them in turn. Those of one key are gathered. Each round begins with the same keys, and gets through some ten thousand.',
  ...TURNS,
  stages: [
    compare([
      { name: '1 key' },
      { name: '10,000 keys', clients: 'ten-thousand-keys' },
      { name: '1,000,000 keys', clients: 'million-keys' },
    ]),
  ],
};

const WORKERS = [1, 2, 4].map((count) => ({ name: `workers: ${count}`, workers: count }));

export const workers: Scenario = {
  name: 'workers',
  title: '1, 2 and 4 workers',
  shows:
    'What more processes cost for each request. All of them share one core here, so that requests a second cannot grow. With 256 connections each has 64 of them at least, as each would have on a core of its own.',
  ...TURNS,
  stages: [
    {
      ...compare(WORKERS),
      cases: [
        { ...SERVED, name: '64 connections' },
        { ...SERVED, name: '256 connections', load: { ...LOAD, connections: 256 } },
      ],
    },
  ],
};

export const redis: Scenario = {
  name: 'redis',
  title: 'Redis on a unix socket, on TCP, as a Cluster of three masters',
  shows: 'What the way to Redis costs, and what Redis itself uses.',
  ...TURNS,
  stages: [
    compare([
      { name: 'unix socket', redis: 'unix' },
      { name: 'TCP', redis: 'tcp' },
      { name: 'Cluster', redis: 'cluster' },
    ]),
  ],
};
