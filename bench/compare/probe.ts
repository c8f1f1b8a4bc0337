import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Aim, MARK } from './aim.ts';

const ANSWER_MAX_MS = 20_000;
const REASON_CHARS_MAX = 300;

/** Asks once, and rejects unless the answer is whole and what it should be: a fast mistake is no result. */
export async function probe({ port, path, headers, body, status, marks }: Aim): Promise<void> {
  const sent = request({
    ...{ host: '127.0.0.1', port, path, method: 'POST', agent: false },
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const said = await text(answer);
  const marked = said.split(MARK).length - 1;
  if (answer.statusCode !== status || marked < marks) {
    const what = `${answer.statusCode} with ${marked} of ${marks} events`;
    throw new Error(`answered ${what}: ${said.slice(0, REASON_CHARS_MAX)}`);
  }
}
