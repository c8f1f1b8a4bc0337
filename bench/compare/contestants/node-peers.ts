import { join } from 'node:path';
import { findFreePort } from '../../support/processes.ts';
import { listProcessTree } from '../figures/cpu-times.ts';
import { PEERS_DIR } from '../install-peers.ts';
import { spawnPinned } from '../pinned-process.ts';
import type { ApiFormat, Contestant, Place, Route } from '../scenario.ts';
import { waitForPort } from '../wait-for-port.ts';
import { plainRoute } from './bare-proxies.ts';

interface PeerOptions {
  readonly name: string;
  /** Arguments of Node, in the folder of the peers. */
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
      const child = await spawnPinned('contestant', command, { cwd: PEERS_DIR, env });
      try {
        await waitForPort(child, port);
      } catch (error) {
        await child.stop();
        throw error;
      }
      return {
        port,
        routeOf: (format) => routeOf(format, place),
        pids: () => listProcessTree(child.pid),
        sidePids: {},
        stop: child.stop,
      };
    },
  };
}

const modulePath = (path: string) => join(PEERS_DIR, 'node_modules', path);

/** Both of this family are told by headers who the upstream is. */
function portkeyHeaders(prefix: string, format: ApiFormat, { upstreamPort }: Place) {
  const provider = format === 'native' ? 'anthropic' : 'openai';
  return {
    [`x-${prefix}-provider`]: provider,
    [`x-${prefix}-custom-host`]: `http://127.0.0.1:${upstreamPort}/v1`,
    ...(format === 'native' ? { 'x-api-key': 'any' } : { authorization: 'Bearer any' }),
  };
}

export const portkey = createNodePeer({
  name: 'portkey',
  args: (port) => [
    modulePath('@portkey-ai/gateway/build/start-server.js'),
    ...['--headless', `--port=${port}`],
  ],
  routeOf: (format, place) => ({
    ...plainRoute(format),
    headers: portkeyHeaders('portkey', format, place),
  }),
});
