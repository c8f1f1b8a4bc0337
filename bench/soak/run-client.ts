import { setTimeout as sleep } from 'node:timers/promises';
import { FORMAT_NAMES } from '../../src/protocol/format-names.ts';
import { postQuestion } from '../../test/support/clients/ask-gateway.ts';
import type { SoakNode } from './start-soak-nodes.ts';
import { pickOne, type SoakKey, type World } from './world.ts';

const PAUSE_MAX_MS = 100;
const LEAVING_SHARE = 0.05;
const LEAVE_AFTER_MAX_MS = 150;
const STREAM_SHARE = 0.5;
/** The share of answers of the Responses format that nodes keep. */
const KEPT_SHARE = 0.5;
/** Longer than every timeout of a node. */
const ANSWER_TIME_MAX_MS = 60_000;
/** The share of requests that use a revoked key. */
const REVOKED_SHARE = 0.03;

/** One request and what the client saw of it, by the clock of this process. */
export interface Answer {
  readonly key: SoakKey;
  readonly sentMs: number;
  /** When the head of the answer arrived. */
  readonly headMs: number;
  readonly status: number;
  readonly requestId: string;
}

export interface ClientLinks {
  readonly world: World;
  readonly nodes: readonly SoakNode[];
  readonly isOver: () => boolean;
  /** Called when the head of each answer arrives. */
  readonly onAnswer: (answer: Answer) => void;
  /** Called once per request, with its status or with how it ended otherwise. */
  readonly onEnd: (outcome: string) => void;
}

/** Sends one request after another, each with another key, until the run is over. */
export async function runClient(links: ClientLinks): Promise<void> {
  while (!links.isOver()) {
    links.onEnd(await ask(links));
    await sleep(Math.random() * PAUSE_MAX_MS);
  }
}

async function ask({ world, nodes, onAnswer }: ClientLinks): Promise<string> {
  const isRevoked = Math.random() < REVOKED_SHARE;
  const good = world.keys.filter(({ revokedMs }) => (revokedMs !== undefined) === isRevoked);
  const key = pickOne(good.length > 0 ? good : world.keys);
  const isLeaving = Math.random() < LEAVING_SHARE;
  const leaving = new AbortController();
  const timer = setTimeout(
    () => leaving.abort(),
    isLeaving ? Math.random() * LEAVE_AFTER_MAX_MS : ANSWER_TIME_MAX_MS,
  );
  const sentMs = performance.now();
  try {
    const response = await post(pickOne(nodes).url, key.text, leaving.signal);
    const { status, headers } = response;
    const requestId = headers.get('request-id') ?? '';
    onAnswer({ key, sentMs, headMs: performance.now(), status, requestId });
    await response.text();
    return `${status}`;
  } catch {
    if (isLeaving && leaving.signal.aborted) return 'left';
    return leaving.signal.aborted ? 'stuck' : 'broken';
  } finally {
    clearTimeout(timer);
  }
}

function post(url: string, key: string, signal: AbortSignal): Promise<Response> {
  const model = Math.random() < 0.5 ? 'llm-haiku-4.5' : 'llm-sonnet-4.6';
  const isKept = Math.random() < KEPT_SHARE;
  return postQuestion(
    {
      ...{ url, key, model, format: pickOne(FORMAT_NAMES), isStream: Math.random() < STREAM_SHARE },
      ...{ prompt: 'Say some words.', outputMax: 200, isKept },
    },
    signal,
  );
}
