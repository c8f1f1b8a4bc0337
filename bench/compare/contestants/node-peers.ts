import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../../test/support/servers/find-free-port.ts';
import { PEERS_DIR } from '../install-peers.ts';
import type { ApiFormat, Contestant, Place, Route } from '../scenario.ts';
import { plainRoute } from './bare-proxies.ts';
import { runContestant } from './run-contestant.ts';

interface PeerOptions {
  readonly name: string;
  /** Arguments of Node, which runs in the folder of the peers. */
  args(port: number, place: Place): readonly string[];
  routeOf(format: ApiFormat, place: Place): Route | undefined;
}

function createNodePeer({ name, args, routeOf }: PeerOptions): Contestant {
  return {
    name,
    isPeer: true,
    async start(place) {
      const port = await findFreePort();
      const command = [process.execPath, ...args(port, place)];
      const env = { NODE_ENV: 'production', HOME: place.dir };
      return await runContestant(command, port, (format) => routeOf(format, place), {
        cwd: PEERS_DIR,
        env,
      });
    },
  };
}

const modulePath = (path: string) => join(PEERS_DIR, 'node_modules', path);

type Provider = 'anthropic' | 'openai';

/** Both gateways of this family learn from request headers who the upstream is. */
function portkeyHeaders(prefix: string, provider: Provider, { upstreamPort }: Place) {
  return {
    [`x-${prefix}-provider`]: provider,
    [`x-${prefix}-custom-host`]: `http://127.0.0.1:${upstreamPort}/v1`,
    ...(provider === 'anthropic' ? { 'x-api-key': 'any' } : { authorization: 'Bearer any' }),
  };
}

const providerOf = (format: ApiFormat): Provider => (format === 'native' ? 'anthropic' : 'openai');

interface PortkeyOptions {
  readonly name: string;
  readonly chooseProvider: (format: ApiFormat) => Provider;
  readonly nodeArgs: readonly string[];
}

function createPortkey({ name, chooseProvider, nodeArgs }: PortkeyOptions): Contestant {
  return createNodePeer({
    name,
    args: (port) => [
      ...nodeArgs,
      modulePath('@portkey-ai/gateway/build/start-server.js'),
      ...['--headless', `--port=${port}`],
    ],
    routeOf: (format, place) => ({
      ...plainRoute(format),
      headers: portkeyHeaders('portkey', chooseProvider(format), place),
    }),
  });
}

const AS_INSTALLED = { name: 'portkey', nodeArgs: [] } as const;
const MENDED = {
  name: 'portkey-mended',
  nodeArgs: ['--import', join(PEERS_DIR, 'copy-answer-headers.mjs')],
} as const;

export const portkey = createPortkey({ ...AS_INSTALLED, chooseProvider: providerOf });
/** The upstream speaks the native format, whatever the client speaks. */
export const portkeyToNative = createPortkey({
  ...AS_INSTALLED,
  chooseProvider: () => 'anthropic',
});
/** As installed, it answers no stream on Node 20. */
export const portkeyMended = createPortkey({ ...MENDED, chooseProvider: providerOf });
export const portkeyMendedToNative = createPortkey({
  ...MENDED,
  chooseProvider: () => 'anthropic',
});

/** Another gateway that began as Portkey. It exports a Hono app. */
export const llmops = createNodePeer({
  name: 'llmops',
  args: (port) => [join(PEERS_DIR, 'run-llmops.mjs'), String(port)],
  routeOf: (format, place) => ({
    ...plainRoute(format),
    headers: portkeyHeaders('llmops', providerOf(format), place),
  }),
});

/** Accepts requests of either format and sends each to the provider of its model. */
export const musistudio = createNodePeer({
  name: 'musistudio-llms',
  args: (port, { upstreamPort }) => [
    join(PEERS_DIR, 'run-musistudio.mjs'),
    ...[String(port), String(upstreamPort)],
  ],
  routeOf: (format) => ({ ...plainRoute(format), model: 'mock,m-1' }),
});

const describeNullplatform = (
  port: number,
  upstreamPort: number,
) => `server: {host: 127.0.0.1, port: ${port}}
models:
  - name: m-1
    isDefault: true
    provider: {type: anthropic, config: {apiKey: any, baseUrl: "http://127.0.0.1:${upstreamPort}"}}
logging: {level: error}
`;

export const nullplatform = createNodePeer({
  name: 'nullplatform',
  args: (port, { dir, upstreamPort }) => {
    const file = join(dir, 'gateway.yaml');
    writeFileSync(file, describeNullplatform(port, upstreamPort));
    return [modulePath('@nullplatform/llm-gateway/dist/cli.js'), 'start', '-c', file];
  },
  routeOf(format) {
    const path = NULLPLATFORM_PATHS[format];
    return path === undefined ? undefined : { ...plainRoute(format), path };
  },
});

const NULLPLATFORM_PATHS: Readonly<Partial<Record<ApiFormat, string>>> = {
  native: '/anthropic/v1/messages',
  chat: '/openai/v1/chat/completions',
};

/** A native addon in Rust. */
export const lmnr = createNodePeer({
  name: 'lmnr',
  args: (port, { upstreamPort }) => [
    join(PEERS_DIR, 'run-lmnr.mjs'),
    ...[String(port), String(upstreamPort)],
  ],
  routeOf: (format) => (format === 'native' ? plainRoute(format) : undefined),
});

export const NODE_PEERS: readonly Contestant[] = [portkey, llmops, musistudio, nullplatform, lmnr];
