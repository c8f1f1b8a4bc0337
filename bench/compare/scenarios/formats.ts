import { nginx } from '../contestants/bare-proxies.ts';
import {
  musistudio,
  portkey,
  portkeyMended,
  portkeyMendedToNative,
  portkeyToNative,
} from '../contestants/node-peers.ts';
import { createTollgate } from '../contestants/tollgate.ts';
import {
  type ApiFormat,
  type Contestant,
  type Scenario,
  type Stage,
  type UpstreamAnswer,
  WHOLE_ANSWER,
} from '../scenario.ts';

const BURST: UpstreamAnswer = { latencyMs: 0, events: 50, gapMs: 0 };

interface Direction {
  readonly client: ApiFormat;
  readonly upstream: ApiFormat;
  /** The contestants that support this combination of formats. */
  readonly peers: readonly Contestant[];
  readonly streamingPeers: readonly Contestant[];
}

const DIRECTIONS: readonly Direction[] = [
  { client: 'native', upstream: 'native', peers: [portkey], streamingPeers: [portkeyMended] },
  { client: 'chat', upstream: 'chat', peers: [portkey], streamingPeers: [portkeyMended] },
  {
    client: 'chat',
    upstream: 'native',
    peers: [portkeyToNative],
    streamingPeers: [portkeyMendedToNative],
  },
  { client: 'native', upstream: 'chat', peers: [musistudio], streamingPeers: [musistudio] },
  { client: 'responses', upstream: 'native', peers: [], streamingPeers: [] },
];

function stageOf(direction: Direction, answer: UpstreamAnswer): Stage {
  const { client, upstream } = direction;
  const peers = answer.events > 0 ? direction.streamingPeers : direction.peers;
  const what = answer.events > 0 ? 'a stream of 50 events' : 'a whole answer';
  return {
    answer,
    contestants: [nginx, createTollgate({ upstreamKind: upstream }), ...peers],
    cases: [
      {
        name: `${client} -> ${upstream}, ${what}`,
        ...{ format: client, bodyBytes: 512, status: 200 },
        load: { kind: 'closed-loop', generator: 'wrk', connections: 64 },
      },
    ],
  };
}

export const formats: Scenario = {
  name: 'formats',
  title: 'the format of the client -> the format of the upstream',
  shows: 'What translation costs. nginx translates nothing, and is there to compare with.',
  unit: 'request',
  seconds: 2,
  warmUpSeconds: 12,
  rounds: 2,
  stages: [WHOLE_ANSWER, BURST].flatMap((answer) =>
    DIRECTIONS.map((direction) => stageOf(direction, answer)),
  ),
};
