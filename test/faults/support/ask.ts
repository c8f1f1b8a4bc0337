import type { Answer as Head } from '../../../bench/soak/run-client.ts';
import type { SoakKey } from '../../../bench/soak/world.ts';

/** Micro-credits of a token, by the price in the settings of the nodes. */
export const PRICE = { input: 1, output: 5 } as const;

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

interface Told {
  readonly end: string;
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
  const sentMs = performance.now();
  let response: Response;
  try {
    response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': key.text, 'content-type': 'application/json' },
        'llm-version': '2023-06-01',
      },
      body: JSON.stringify({
        ...{ model: 'llm-faults-1', max_tokens: isLong ? LONG_TOKENS : 200, stream: isStream },
        messages: [{ role: 'user', content: 'Say some words.' }],
      }),
      signal,
    });
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
  const told = await response.text().then(
    (text) => readAnswer(status, text, isStream),
    () => ({ end: signal.aborted ? 'stuck' : 'cut off', toldMicros: undefined }),
  );
  return { url, ...head, endMs: performance.now(), ...told };
}

function readAnswer(status: number, text: string, isStream: boolean): Told {
  if (status !== 200) return { end: `${status} ${readErrorType(text)}`, toldMicros: undefined };
  const usages = isStream ? readEvents(text) : [(JSON.parse(text) as Answer).usage];
  if (usages === undefined) return { end: 'failed in the middle', toldMicros: undefined };
  const usage = Object.assign({}, ...usages) as Usage;
  const { input_tokens: input = 0, output_tokens: output = 0 } = usage;
  return { end: 'answered', toldMicros: input * PRICE.input + output * PRICE.output };
}

interface Usage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

interface Answer {
  readonly usage: Usage;
}

interface StreamEvent {
  readonly type: string;
  readonly message?: Answer;
  readonly usage?: Usage;
}

/** Undefined if the answer is not complete. */
function readEvents(text: string): Usage[] | undefined {
  const events = [...text.matchAll(/^data: (.+)$/gm)].map(
    ([, json = '']) => JSON.parse(json) as StreamEvent,
  );
  if (events.at(-1)?.type !== 'message_stop') return undefined;
  return events.flatMap(({ message, usage }) => message?.usage ?? usage ?? []);
}

/** Of the system, such as `ECONNREFUSED`. */
function readCode(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code ?? String(error);
}

function readErrorType(text: string): string {
  try {
    return (JSON.parse(text) as { error: { type: string } }).error.type;
  } catch {
    return 'without a body';
  }
}
