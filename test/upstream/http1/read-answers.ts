import { AssertionError } from 'node:assert';
import { Client, errors } from 'undici';
import type { HttpRequest } from '../../../src/upstream/http1/encode-request.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type Peer, type RawServer, startRawServer } from './start-raw-server.ts';
import { ask, GET, useClient } from './use-client.ts';

/** What a server sends as an answer, and what it does with the connection afterwards. */
export interface Script {
  /** One string per packet. */
  readonly pieces: readonly string[];
  /** By default the server leaves the connection open. */
  readonly after?: 'close' | 'reset' | undefined;
  readonly method?: HttpRequest['method'] | undefined;
}

/**
 * What a client makes of an answer: `200 "hello" kept` if it is complete and a second request goes
 * over the same connection, `200 "hello" closed` if the second request takes another connection,
 * else the status, if there was one, and the reason of the failure.
 */
export type Reading = string;

const SECOND_BODY = 'second';
const SECOND_ANSWER = `HTTP/1.1 200 OK\r\ncontent-length: ${SECOND_BODY.length}\r\n\r\n${SECOND_BODY}`;

export async function readWithClient(script: Script): Promise<Reading> {
  const { server, played } = await startScriptServer(script);
  const client = useClient(server.port);
  const first = await ask(client, { ...GET, method: script.method ?? 'GET' });
  const failure = first.failure();
  if (failure !== undefined) return [first.status(), failure.kind].filter(Boolean).join(' ');
  await played;
  const second = await ask(client);
  return describeComplete(server, first.status(), first.body(), second.body());
}

/** All failures except `asserts` read `fails`, since undici has its own names for them. */
export async function readWithUndici(script: Script): Promise<Reading> {
  const { server, played } = await startScriptServer(script);
  const client = new Client(`http://127.0.0.1:${server.port}`);
  let status: number | undefined;
  try {
    const first = await client.request({ method: script.method ?? 'GET', path: '/' });
    status = first.statusCode;
    const body = Buffer.from(await first.body.arrayBuffer()).toString('latin1');
    await played;
    const second = await client.request({ method: 'GET', path: '/' });
    return describeComplete(server, status, body, await second.body.text());
  } catch (error) {
    if (error instanceof AssertionError) return 'asserts';
    if (!isOfConnection(error)) throw error;
    return [status, 'fails'].filter(Boolean).join(' ');
  } finally {
    await client.destroy();
  }
}

/** `played` resolves when the whole answer is sent and the step after it is done. */
async function startScriptServer(
  script: Script,
): Promise<{ server: RawServer; played: Promise<void> }> {
  let setPlayed = () => {};
  const played = new Promise<void>((resolve) => {
    setPlayed = resolve;
  });
  let isAnswered = false;
  const server = await startRawServer({
    onRequest: (peer) => {
      if (isAnswered) void peer.send(SECOND_ANSWER);
      else void play(script, peer).then(setPlayed);
      isAnswered = true;
    },
  });
  return { server, played };
}

async function play({ pieces, after }: Script, peer: Peer): Promise<void> {
  await peer.send(...pieces);
  if (after === 'close') peer.socket.end();
  if (after === 'reset') peer.socket.resetAndDestroy();
  if (after !== undefined) await waitUntil(() => peer.isClosed(), 'the connection is closed');
}

function describeComplete(
  server: RawServer,
  status: number | undefined,
  body: string,
  secondBody: string,
): Reading {
  const kept = server.peers.length === 1 ? 'kept' : 'closed';
  const mixedUp = secondBody === SECOND_BODY ? '' : ` and then ${JSON.stringify(secondBody)}`;
  return `${status} ${JSON.stringify(body)} ${kept}${mixedUp}`;
}

function isOfConnection(error: unknown): boolean {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return (
    isOfSystem || error instanceof errors.UndiciError || error instanceof errors.HTTPParserError
  );
}
