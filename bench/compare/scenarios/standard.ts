import { caddy, haproxy, nginx, uwsProxy } from '../contestants/bare-proxies.ts';
import { NODE_PEERS } from '../contestants/node-peers.ts';
import { tollgate } from '../contestants/tollgate.ts';
import { type ApiFormat, type Case, type Scenario, WHOLE_ANSWER } from '../scenario.ts';

const CASE = { bodyBytes: 512, status: 200 } as const;
const CONNECTIONS = 64;

const caseWith = (generator: 'wrk' | 'autocannon', format: ApiFormat = 'native'): Case => ({
  ...CASE,
  format,
  name: `${format}, 0.5 KB, ${generator}`,
  load: { kind: 'closed-loop', generator, connections: CONNECTIONS },
});

export const standard: Scenario = {
  name: 'standard',
  title: 'a small request, everybody',
  shows: `What one small answer costs each contestant, in a closed loop of ${CONNECTIONS} connections.`,
  unit: 'request',
  seconds: 3,
  warmUpSeconds: 12,
  rounds: 3,
  stages: [
    {
      answer: WHOLE_ANSWER,
      contestants: [nginx, haproxy, caddy, uwsProxy, tollgate, ...NODE_PEERS],
      cases: [caseWith('autocannon'), caseWith('wrk')],
    },
    {
      answer: WHOLE_ANSWER,
      contestants: [nginx, tollgate],
      cases: [
        caseWith('wrk', 'responses'),
        { ...caseWith('wrk', 'responses'), name: 'responses, kept, 0.5 KB, wrk', isKept: true },
      ],
    },
  ],
};
