import type { Answer as Head } from '../../../bench/soak/run-client.ts';
import { pickOne, type SoakKey } from '../../../bench/soak/world.ts';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { postQuestion, readTold, type Told } from '../../support/clients/ask-gateway.ts';

/** Micro-credits of a token, by the price in the settings of the nodes. */
export const PRICE = { input: 1, output: 5 } as const;

/** The share of answers of the Responses format that nodes keep. */
const KEPT_SHARE = 0.5;

/** Asks the upstream for an answer of twenty seconds. */
export const LONG_TOKENS = 999;

/** Longer than every wait of a node; whoever waits so long has been forgotten. */
const ANSWER_TIME_MAX_MS = 120_000;

/** One request, as its client saw it. Times are of this process. */
export interface Asked {
  readonly url: string;
  readonly key: SoakKey;
  readonly sentMs: number;
  /** When the head of the answer arrived; of one without an answer, when that was clear. */
  readonly headMs: number;
  /** When the last of the answer arrived. */
  readonly endMs: number;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** `answered`, or in a word what went wrong. */
  readonly end: string;
  /** What a complete answer says that it costs; undefined if none came. */
  readonly toldMicros: number | undefined;
}

interface AskOptions {
  readonly url: string;
  readonly key: SoakKey;
  readonly isStream: boolean;
  /** Whether it takes longer than any other stream. */
  readonly isLong?: boolean;
  readonly onHead: (head: Head) => void;
}

export async function ask(options: AskOptions): Promise<Asked> {
  const { url, key, isStream, isLong = false, onHead } = options;
  const signal = AbortSignal.timeout(ANSWER_TIME_MAX_MS);
  const question = {
    ...{ model: 'llm-faults-1', format: pickOne(FORMAT_NAMES), isStream },
    ...{ prompt: 'Say some words.', outputMax: isLong ? LONG_TOKENS : 200 },
    isKept: Math.random() < KEPT_SHARE,
  };
  const sentMs = performance.now();
  let response: Response;
  try {
    response = await postQuestion({ url, key: key.text, ...question }, signal);
  } catch (error) {
    const end = signal.aborted ? 'stuck' : `no answer: ${readCode(error)}`;
    const none = { status: undefined, requestId: undefined, toldMicros: undefined };
    const nowMs = performance.now();
    return { url, key, sentMs, headMs: nowMs, endMs: nowMs, ...none, end };
  }
  const { status, headers } = response;
  const requestId = headers.get('request-id') ?? '';
  const head = { key, sentMs, headMs: performance.now(), status, requestId };
  onHead(head);
  const told = await readTold(question, response).then(describeEnd, (error: unknown) => {
    const end = error instanceof TypeError ? 'cut off' : String(error);
    return { end: signal.aborted ? 'stuck' : end, toldMicros: undefined };
  });
  return { url, ...head, endMs: performance.now(), ...told };
}

function describeEnd(told: Told): Pick<Asked, 'end' | 'toldMicros'> {
  const { status, error, isComplete, inputTokens = 0, outputTokens = 0 } = told;
  if (status !== 200) return { end: `${status} ${error?.type}`, toldMicros: undefined };
  if (!isComplete) return { end: 'failed in the middle', toldMicros: undefined };
  return {
    end: 'answered',
    toldMicros: inputTokens * PRICE.input + outputTokens * PRICE.output,
  };
}

/** Of the system, such as `ECONNREFUSED`. */
function readCode(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code ?? String(error);
}
