import { haproxy, nginx, uwsProxy } from '../contestants/bare-proxies.ts';
import { NODE_PEERS, portkeyMended } from '../contestants/node-peers.ts';
import { tollgate } from '../contestants/tollgate.ts';
import type { Scenario } from '../scenario.ts';

const CASE = { format: 'native', bodyBytes: 512, status: 200 } as const;
const EVENTS = 50;
const EVENTS_OF_LONG_STREAM = 1_000;
const BURST_CONNECTIONS = 64;

const CONTESTANTS = [nginx, haproxy, uwsProxy, tollgate];

export const streamBurst: Scenario = {
  name: 'stream-burst',
  title: `streams of ${EVENTS} events at once`,
  shows: `What a stream costs whose ${EVENTS} events the upstream sends in one write: parsing, nothing else.`,
  unit: 'request',
  seconds: 3,
  warmUpSeconds: 12,
  rounds: 3,
  stages: [
    {
      answer: { latencyMs: 0, events: EVENTS, gapMs: 0 },
      contestants: [...CONTESTANTS, ...NODE_PEERS, portkeyMended],
      cases: [
        {
          ...CASE,
          name: `native, ${EVENTS} events in a burst`,
          load: { kind: 'closed-loop', generator: 'wrk', connections: BURST_CONNECTIONS },
        },
      ],
    },
    {
      answer: { latencyMs: 0, events: EVENTS, gapMs: 0 },
      contestants: [nginx, tollgate],
      cases: [
        {
          ...{ ...CASE, format: 'responses' },
          name: `responses, ${EVENTS} events in a burst`,
          load: { kind: 'closed-loop', generator: 'wrk', connections: BURST_CONNECTIONS },
        },
      ],
    },
  ],
};

export const streamPaced: Scenario = {
  name: 'stream-paced',
  title: '500 open streams, events 20 ms apart',
  shows: `What each event costs that is handed on by itself, how late it comes, and the longest pause in any stream. With ${EVENTS} events in a stream its beginning and end are in it; with ${EVENTS_OF_LONG_STREAM} hardly.`,
  unit: 'event',
  seconds: 4,
  warmUpSeconds: 12,
  rounds: 3,
  stages: [
    {
      answer: { latencyMs: 0, events: EVENTS, gapMs: 20 },
      contestants: [...CONTESTANTS, ...NODE_PEERS, portkeyMended],
      cases: [
        {
          ...CASE,
          name: `500 streams of ${EVENTS} events, one each 20 ms`,
          // Opening takes as long as a stream lasts, so that streams begin evenly and not all in
          // one half of each second.
          load: { kind: 'open-streams', streams: 500, opensPerSecond: 500 },
        },
      ],
    },
    {
      answer: { latencyMs: 0, events: EVENTS_OF_LONG_STREAM, gapMs: 20 },
      contestants: CONTESTANTS,
      cases: [
        {
          ...CASE,
          name: `500 streams of ${EVENTS_OF_LONG_STREAM} events, one each 20 ms`,
          load: { kind: 'open-streams', streams: 500, opensPerSecond: 500 },
        },
      ],
    },
  ],
};

export const streamsOpen: Scenario = {
  name: 'streams-open',
  title: '5,000 open streams, an event a second each',
  shows:
    'Memory for each open stream (kbPerStream: above what the fresh process had, so the largest of the rounds counts), and whether any of them stalls.',
  unit: 'event',
  seconds: 8,
  warmUpSeconds: 12,
  rounds: 2,
  stages: [
    {
      answer: { latencyMs: 0, events: 60, gapMs: 1_000 },
      contestants: CONTESTANTS,
      cases: [
        {
          ...CASE,
          name: '5,000 streams, an event each second',
          load: { kind: 'open-streams', streams: 5_000, opensPerSecond: 1_000 },
        },
      ],
    },
  ],
};
