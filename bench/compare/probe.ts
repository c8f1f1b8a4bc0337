import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type Aim, MARK } from './aim.ts';

const ANSWER_MAX_MS = 20_000;
const ENOUGH_AFTER_MS = 2_500;
const REASON_CHARS_MAX = 300;

/** A rate limit of one request is reached only after the first request. */
const ATTEMPTS_MAX = 2;

/** Rejects unless an answer is complete and as expected: a fast wrong answer is not a result. */
export async function probe(aim: Aim): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const mistake = await findMistake(aim);
    if (mistake === undefined) return;
    if (attempt === ATTEMPTS_MAX) throw new Error(mistake);
  }
}

async function findMistake({
  port,
  path,
  headers,
  body,
  status,
  marks,
}: Aim): Promise<string | undefined> {
  const sent = request({
    ...{ host: '127.0.0.1', port, path, method: 'POST', agent: false },
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const said = await readEnough(answer);
  const marked = said.text.split(MARK).length - 1;
  const isRight = said.isWhole ? marked >= marks : marked > 0;
  if (answer.statusCode === status && isRight) return undefined;
  const what = `${answer.statusCode} with ${marked} of ${marks} events`;
  return `answered ${what}: ${said.text.slice(0, REASON_CHARS_MAX)}`;
}

/** Does not wait for the end of a long stream that goes well. */
async function readEnough(
  answer: IncomingMessage,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const enoughMs = performance.now() + ENOUGH_AFTER_MS;
  let text = '';
  for await (const bytes of answer.setEncoding('utf8')) {
    text += bytes;
    if (performance.now() > enoughMs) return { text, isWhole: false };
  }
  return { text, isWhole: true };
}
