import type { FoundAnswer } from '../../gateway/answer-keeper.ts';
import { readResolved } from '../../gateway/read-resolved.ts';
import type { Steps } from '../../gateway/steps.ts';
import { hintForPath } from '../../protocol/hint-for-path.ts';
import { Refusal } from '../../protocol/refusals.ts';
import { encodeInputItems } from '../../protocol/responses/answers/encode-input-items.ts';
import { ID_CHARS_SHOWN_MAX } from '../../protocol/responses/references.ts';
import { responsesFormat } from '../../protocol/responses/responses-format.ts';
import type { Exchange } from '../exchange.ts';
import { countTokens } from './count-tokens.ts';
import { refuseMethod } from './refuse-method.ts';
import type { HttpRoute } from './route-table.ts';

const TIME_MAX_MS = 120_000;
const PATH = '/v1/responses';

/** Questions about answers that are kept, and tokens that nobody uses. They cost nothing. */
export function createResponsesRoutes(steps: Steps): HttpRoute[] {
  const create = (
    method: HttpRoute['method'],
    path: string,
    handle: HttpRoute['handle'],
  ): HttpRoute => {
    const { encodeRefusal, statusOf } = responsesFormat;
    return { method, path, timeMaxMs: TIME_MAX_MS, encodeRefusal, statusOf, handle };
  };
  return [
    create('GET', PATH, refuseUpgrade),
    create('POST', `${PATH}/input_tokens`, (exchange) => sendTokenCount(exchange, steps)),
    create('GET', `${PATH}/*`, (exchange) => showResponse(exchange, steps)),
    create('DELETE', `${PATH}/*`, (exchange) => forgetResponse(exchange, steps)),
    {
      ...create('POST', `${PATH}/*`, (exchange) => refuseCancel(exchange, steps)),
      ignoresBody: true,
    },
  ];
}

/** Some clients try a WebSocket first, and send their request at once if the answer is 426. */
function refuseUpgrade(exchange: Exchange): void {
  const { method, path } = exchange.head;
  if (exchange.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw refuseMethod(method, path, ['POST']);
  }
  throw new Refusal('no_websocket', 'This gateway has no WebSockets: send POST /v1/responses.');
}

async function sendTokenCount(exchange: Exchange, steps: Steps): Promise<void> {
  const tokens = await countTokens(exchange, steps, (counted) =>
    readResolved({ ...counted, format: responsesFormat, steps }),
  );
  exchange.answerJson(200, { object: 'response.input_tokens', input_tokens: tokens });
}

async function showResponse(exchange: Exchange, steps: Steps): Promise<void> {
  const { id, rest } = readPath(exchange);
  if (rest !== '' && rest !== 'input_items') throw refusePath(exchange);
  const { readInput, response } = await findResponse(exchange, steps, id);
  const query = new URLSearchParams(exchange.head.query);
  if (rest === '') {
    if (query.get('stream') === 'true') throw refuseStream();
    exchange.answerJson(200, response);
    return;
  }
  exchange.answerJson(
    200,
    encodeInputItems(id, readInput(), (name) => query.get(name) ?? undefined),
  );
}

async function forgetResponse(exchange: Exchange, steps: Steps): Promise<void> {
  const { id, rest } = readPath(exchange);
  if (rest !== '') throw refusePath(exchange);
  const key = steps.checkKey(exchange);
  if (steps.answerKeeper === undefined) await steps.admitFree(key);
  if ((await steps.answerKeeper?.forget(key, id)) !== true) throw refuseResponse(id);
  exchange.answerJson(200, { id, object: 'response', deleted: true });
}

/** Only answers that run in the background can be cancelled, and there are none. */
async function refuseCancel(exchange: Exchange, steps: Steps): Promise<void> {
  const { id, rest } = readPath(exchange);
  if (rest !== 'cancel') throw refusePath(exchange);
  await findResponse(exchange, steps, id);
  throw new Refusal('invalid_request', 'Cannot cancel a synchronous response.');
}

async function findResponse(exchange: Exchange, steps: Steps, id: string): Promise<FoundAnswer> {
  const key = steps.checkKey(exchange);
  if (steps.answerKeeper === undefined) await steps.admitFree(key);
  const found = await steps.answerKeeper?.find(key, id);
  if (found === undefined) throw refuseResponse(id);
  return found;
}

function readPath({ head }: Exchange): { readonly id: string; readonly rest: string } {
  const [id = '', ...rest] = head.path.slice(PATH.length + 1).split('/');
  return { id, rest: rest.join('/') };
}

function refuseStream(): Refusal {
  const message = "Invalid value for 'stream': an answer that is kept is read as a whole.";
  return new Refusal('invalid_request', message, { param: 'stream' });
}

function refuseResponse(id: string): Refusal {
  const shown = id.slice(0, ID_CHARS_SHOWN_MAX);
  return new Refusal('response_not_found', `Response with id '${shown}' not found.`);
}

function refusePath({ head }: Exchange): Refusal {
  const path = head.path.slice(0, ID_CHARS_SHOWN_MAX);
  const hint = hintForPath(path);
  const message = `${head.method} ${path} does not exist.${hint === undefined ? '' : ` ${hint}`}`;
  return new Refusal('unknown_path', message);
}
