import { beforeAll } from 'vitest';
import { admin } from '../clients/admin.ts';
import { askGateway, type ClientFormat, type Told } from '../clients/ask-gateway.ts';
import { type Gateway, startGateway } from '../servers/start-gateway.ts';
import { useCleanUp } from '../use-clean-up.ts';
import {
  type Script,
  type ScriptedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './start-scripted-upstream.ts';
import type { ReportedUsage, UpstreamKind } from './upstream-answers.ts';

/** The number of places of each kind, and so of the tests of that kind that a file may have. */
const PLACES = 31;
/** Credits per million tokens, high enough to make every single token visible. */
const PRICE = { input: 500, output: 100_000 };
/** This many first tries earn enough budget for a request to use all its retries. */
const FIRST_TRIES_FOR_RETRIES = 10;
const PRACTICE_MODEL = 'practice';

/** Each format once as that of another kind's client. */
export const OTHER_FORMATS = { native: 'responses', chat: 'native', responses: 'chat' } as const;

/** A model whose upstream has had no calls, and a key that has spent nothing. */
export interface Place {
  readonly gateway: Gateway;
  readonly model: string;
  readonly key: string;
  ask(format: ClientFormat, isStream: boolean, prompt?: string): Promise<Told>;
  /** The requests that the upstream got. */
  requests(): readonly ScriptedRequest[];
  /** The requests that the second upstream got, if there is one. */
  nextRequests(): readonly ScriptedRequest[];
  /** The credits spent, once everything is settled. */
  spent(): Promise<number>;
}

export interface PlaceOptions {
  readonly script: Script;
  /** The script of a second upstream, used when the first one fails. */
  readonly nextScript?: Script;
}

export interface UpstreamScene {
  gateway(): Gateway;
  take(kind: UpstreamKind, options: PlaceOptions): Promise<Place>;
}

interface SceneParts {
  readonly gateway: Gateway;
  readonly upstream: ScriptedUpstream;
}

interface SceneOptions {
  readonly timeouts?: string;
  /** One node has no room for the upstreams of all kinds; that of the others starts when needed. */
  readonly kinds?: readonly UpstreamKind[];
}

export function priceOf({ input, output }: ReportedUsage): number {
  return (input * PRICE.input + output * PRICE.output) / 1e6;
}

/**
 * Starts a gateway for a file, in front of the test's own upstreams. Call it at the top of the
 * file.
 */
export function useUpstreamScene({
  timeouts,
  kinds = ['native', 'chat'],
}: SceneOptions = {}): UpstreamScene {
  const cleanUp = useCleanUp();
  const taken = { native: 0, chat: 0, responses: 0 };
  let parts: SceneParts | undefined;
  let more: Promise<SceneParts> | undefined;
  const started = () => {
    if (parts === undefined) throw new Error('the scene has not started');
    return parts;
  };

  const start = async (served: readonly UpstreamKind[]): Promise<SceneParts> => {
    const upstream = await startScriptedUpstream(cleanUp);
    const config = encodeConfig(served, upstream.url, timeouts ?? '{}');
    return { gateway: await startGateway({ config, cleanUp }), upstream };
  };
  const partsFor = (kind: UpstreamKind): Promise<SceneParts> | SceneParts => {
    if (kinds.includes(kind)) return started();
    more ??= start([kind]);
    return more;
  };

  beforeAll(async () => {
    parts = await start(kinds);
  });

  const takePath = (kind: UpstreamKind): string => {
    taken[kind] += 1;
    if (taken[kind] > PLACES) throw new Error(`there are only ${PLACES} places of kind ${kind}`);
    return `${kind}-${taken[kind]}`;
  };

  return {
    gateway: () => started().gateway,
    async take(kind, { script, nextScript }) {
      const { gateway, upstream } = await partsFor(kind);
      const place = takePath(kind);
      upstream.play(`/${place}`, script);
      const next = nextScript === undefined ? undefined : takePath(kind);
      if (next !== undefined && nextScript !== undefined) upstream.play(`/${next}`, nextScript);
      await earnRetries(gateway);

      const operator = admin(gateway);
      const account = await operator.createAccount();
      const { id, key } = await operator.createKey(account);
      const model = next === undefined ? place : `${place}-or-next`;
      return {
        gateway,
        model,
        key,
        ask: (format, isStream, prompt = 'Hi') =>
          askGateway({ url: gateway.url, key, model, format, isStream, prompt }),
        requests: () => upstream.requests(`/${place}`),
        nextRequests: () => upstream.requests(`/${next}`),
        async spent() {
          await operator.waitUntilSettled(account);
          return (await operator.key(id)).spent_this_month;
        },
      };
    },
  };
}

/**
 * All tests share the gateway's retry budget, so no test may depend on what the others left of it.
 */
async function earnRetries(gateway: Gateway): Promise<void> {
  const question = { url: gateway.url, key: gateway.key(), model: PRACTICE_MODEL } as const;
  const tries = Array.from({ length: FIRST_TRIES_FOR_RETRIES }, () =>
    askGateway({ ...question, format: 'native', isStream: false }),
  );
  await Promise.all(tries);
}

/** Health is tracked for each upstream, so every test has its own upstream, with its own path. */
function encodeConfig(kinds: readonly UpstreamKind[], url: string, timeouts: string): string {
  const price = JSON.stringify(PRICE);
  const rest = `max_output_tokens: 1000, price: ${price}`;
  const free = 'max_output_tokens: 1000, price: {input: 0, output: 0}';
  const places = kinds.flatMap((kind) =>
    Array.from({ length: PLACES }, (_, index) => ({ kind, number: index + 1 })),
  );
  return [
    'workers: 1',
    'models:',
    `  - {id: ${PRACTICE_MODEL}, ${free}, routes: [{upstream: ${PRACTICE_MODEL}}]}`,
    ...places.flatMap(({ kind, number }) => {
      const place = `${kind}-${number}`;
      const next = `${kind}-${(number % PLACES) + 1}`;
      return [
        `  - {id: ${place}, ${rest}, routes: [{upstream: ${place}}]}`,
        `  - {id: ${place}-or-next, ${rest}, routes: [{upstream: ${place}}, {upstream: ${next}, priority: 2}]}`,
      ];
    }),
    'upstreams:',
    `  - {name: ${PRACTICE_MODEL}, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}`,
    ...places.map(
      ({ kind, number }) =>
        `  - {name: ${kind}-${number}, kind: ${kind}, url: "${url}/${kind}-${number}", api_key: vendor-key, timeouts: ${timeouts}}`,
    ),
    '',
  ].join('\n');
}
