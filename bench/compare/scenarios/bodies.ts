import { haproxy, nginx, uwsProxy } from '../contestants/bare-proxies.ts';
import { lmnr, portkey } from '../contestants/node-peers.ts';
import { tollgate } from '../contestants/tollgate.ts';
import { type Scenario, WHOLE_ANSWER } from '../scenario.ts';

/** Large bodies have fewer connections, because all requests in progress must fit in memory. */
const SIZES = [
  { name: '0.5 KB', bodyBytes: 512, connections: 64 },
  { name: '10 KB', bodyBytes: 10 * 1024, connections: 64 },
  { name: '100 KB', bodyBytes: 100 * 1024, connections: 32 },
  { name: '300 KB', bodyBytes: 300 * 1024, connections: 16 },
  { name: '1 MB', bodyBytes: 1024 ** 2, connections: 8 },
] as const;

export const bodies: Scenario = {
  name: 'bodies',
  title: 'request bodies of 0.5 KB to 1 MB',
  shows:
    'What a request costs by its size, with the same small answer. Bare proxies do not look into it.',
  unit: 'request',
  seconds: 2,
  warmUpSeconds: 12,
  rounds: 2,
  stages: [
    {
      answer: WHOLE_ANSWER,
      contestants: [nginx, haproxy, uwsProxy, tollgate, portkey, lmnr],
      cases: SIZES.map(({ name, bodyBytes, connections }) => ({
        ...{ name, bodyBytes, format: 'native', status: 200 },
        load: { kind: 'closed-loop', generator: 'wrk', connections },
      })),
    },
  ],
};
