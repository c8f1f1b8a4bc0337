import type { Secret } from '../lib/secret.ts';
import { CommandFailure } from './command-failure.ts';

/** The part of a key's description of itself that commands need. */
export interface OwnKeyFigures {
  readonly month: string;
  readonly spent_this_month: number;
  readonly held: number;
}

const ANSWER_TIME_MAX_MS = 10_000;

/**
 * Asks a gateway about the key that makes the request, which costs nothing. Throws if the gateway
 * cannot be reached or refuses.
 */
export async function askOwnKey(url: string, key: Secret): Promise<OwnKeyFigures> {
  const response = await fetch(`${url}/v1/key`, {
    headers: { authorization: `Bearer ${key.reveal()}` },
    signal: AbortSignal.timeout(ANSWER_TIME_MAX_MS),
  }).catch((cause: unknown) => {
    throw new CommandFailure(
      `cannot reach the gateway at ${url}: is it running? For another one, set --url`,
      { cause },
    );
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok && isOwnKey(answer)) return answer;
  const message = (answer as { error?: { message?: string } } | undefined)?.error?.message;
  const detail = message === undefined ? '' : `: ${message}`;
  if (response.status === 401) throw new CommandFailure(`${url} refuses the key${detail}`);
  if (response.ok || response.status === 404) {
    throw new CommandFailure(`${url} does not answer like a gateway: is it the address of listen?`);
  }
  throw new CommandFailure(`${url}/v1/key answers with status ${response.status}${detail}`);
}

function isOwnKey(answer: unknown): answer is OwnKeyFigures {
  const { object } = (answer ?? {}) as { readonly object?: unknown };
  return object === 'key';
}
