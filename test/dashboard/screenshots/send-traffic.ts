import Anthropic from 'anthropic-sdk-1';
import OpenAI from 'openai';

interface Traffic {
  answered(): number;
  /** Resolves when all running requests have been answered. */
  stop(): Promise<void>;
}

const CLIENTS = 6;
const QUESTIONS = ['Hello!', 'Summarise the report of this week.', 'Translate this into French.'];
const MODELS = ['haiku', 'sonnet', 'opus'];

/**
 * Client libraries that send the next request, with the next key, as soon as they have an answer.
 */
export function sendTraffic(url: string, keys: readonly string[]): Traffic {
  let asked = 0;
  let answered = 0;
  let isStopped = false;
  const runClient = async () => {
    while (!isStopped) {
      const turn = asked++;
      // Some keys may not use a model or have reached their cap. Such refusals belong in the
      // picture.
      await Promise.allSettled([askOnce(url, keys[turn % keys.length] ?? '', turn)]);
      answered++;
    }
  };
  const running = Array.from({ length: CLIENTS }, runClient);
  return {
    answered: () => answered,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function askOnce(url: string, apiKey: string, turn: number): Promise<void> {
  const request = {
    model: MODELS[turn % MODELS.length] ?? '',
    max_tokens: 60,
    messages: [{ role: 'user' as const, content: QUESTIONS[turn % QUESTIONS.length] ?? '' }],
  };
  const chat = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions;
  const native = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 }).messages;
  switch (turn % 4) {
    case 0:
      await chat.create(request);
      break;
    case 1:
      await readToEnd(await chat.create({ ...request, stream: true }));
      break;
    case 2:
      await native.create(request);
      break;
    default:
      await readToEnd(await native.create({ ...request, stream: true }));
  }
}

async function readToEnd(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events) {
    // Reads the answer to its end.
  }
}
