import { afterAll, beforeAll } from 'vitest';
import { admin } from '../clients/admin.ts';
import { askGateway, type ClientFormat, type Told } from '../clients/ask-gateway.ts';
import type { CleanUp } from '../create-temp-dir.ts';
import { type Gateway, startGateway } from '../servers/start-gateway.ts';
import {
  type Script,
  type ScriptedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './start-scripted-upstream.ts';
import type { ToldUsage, UpstreamKind } from './upstream-answers.ts';

/** Of each kind; a file has so many tests at most. */
const PLACES = 31;
/** Credits per million tokens, so high that each token shows. */
const PRICE = { input: 1_000, output: 100_000 };
/** With what is earned by so many first tries, a request can have all the retries there are. */
const FIRST_TRIES_FOR_RETRIES = 10;
const PRACTICE_MODEL = 'practice';

/** A model whose upstream nobody has called before, and a key that has spent nothing. */
export interface Place {
  readonly model: string;
  readonly key: string;
  ask(format: ClientFormat, isStream: boolean, prompt?: string): Promise<Told>;
  /** What the upstream was asked. */
  requests(): readonly ScriptedRequest[];
  /** The same of the upstream that comes second, where there is one. */
  nextRequests(): readonly ScriptedRequest[];
  /** In credits, when everything is settled. */
  spent(): Promise<number>;
}

export interface PlaceOptions {
  readonly script: Script;
  /** Of a second upstream, for when the first one fails. */
  readonly nextScript?: Script;
}

export interface UpstreamScene {
  gateway(): Gateway;
  take(kind: UpstreamKind, options: PlaceOptions): Promise<Place>;
}

interface SceneOptions {
  readonly timeouts?: string;
}

export function priceOf({ input, output }: ToldUsage): number {
  return (input * PRICE.input + output * PRICE.output) / 1e6;
}

/** One gateway for a file, in front of upstreams that are the test's own; to be called at its top. */
export function useUpstreamScene({ timeouts }: SceneOptions = {}): UpstreamScene {
  const undos: (() => void | Promise<void>)[] = [];
  const taken = { native: 0, chat: 0 };
  let parts: { readonly gateway: Gateway; readonly upstream: ScriptedUpstream } | undefined;
  const started = () => {
    if (parts === undefined) throw new Error('the scene has not started');
    return parts;
  };

  beforeAll(async () => {
    const cleanUp: CleanUp = (undo) => undos.push(undo);
    const upstream = await startScriptedUpstream(cleanUp);
    const config = encodeConfig(upstream.url, timeouts ?? '{}');
    parts = { gateway: await startGateway({ config, cleanUp }), upstream };
  });
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });

  const takePath = (kind: UpstreamKind): string => {
    taken[kind] += 1;
    if (taken[kind] > PLACES) throw new Error(`there are only ${PLACES} places of kind ${kind}`);
    return `${kind}-${taken[kind]}`;
  };

  return {
    gateway: () => started().gateway,
    async take(kind, { script, nextScript }) {
      const { gateway, upstream } = started();
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

/** The budget of retries is one for the gateway: a test must not live on what others have left of it. */
async function earnRetries(gateway: Gateway): Promise<void> {
  const question = { url: gateway.url, key: gateway.key(), model: PRACTICE_MODEL } as const;
  const tries = Array.from({ length: FIRST_TRIES_FOR_RETRIES }, () =>
    askGateway({ ...question, format: 'native', isStream: false }),
  );
  await Promise.all(tries);
}

/** An upstream has its health for itself, so every test has an upstream: they differ in their paths. */
function encodeConfig(url: string, timeouts: string): string {
  const price = JSON.stringify(PRICE);
  const rest = `max_output_tokens: 1000, price: ${price}`;
  const free = 'max_output_tokens: 1000, price: {input: 0, output: 0}';
  const places = (['native', 'chat'] as const).flatMap((kind) =>
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
