import { type Catalogue, restrictCatalogue } from '../../catalogue/catalogue.ts';
import { encodeModel, encodeModelInfo, encodeModelList } from '../../catalogue/encode-models.ts';
import type { Steps } from '../../gateway/steps.ts';
import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import { readJsonBody } from '../../protocol/json/parse-json-body.ts';
import { nativeFormat } from '../../protocol/native/native-format.ts';
import type { Exchange } from '../exchange.ts';
import { countTokens, type RequestToCount, type TokenQuestion } from './count-tokens.ts';
import type { HttpRoute } from './route-table.ts';

const TIME_MAX_MS = 120_000;
const MODELS_PATH = '/v1/models/';

/** Questions about models. They run none and cost nothing, but need a key. */
export function createModelListRoutes(steps: Steps): HttpRoute[] {
  const get = (
    path: string,
    encode: (exchange: Exchange, allowed: Catalogue) => string,
  ): HttpRoute => ({
    method: 'GET',
    path,
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    async handle(exchange) {
      const { models } = await steps.admitFree(steps.checkKey(exchange));
      exchange.answer(
        { status: 200, headers: { 'content-type': 'application/json' } },
        encode(exchange, restrictCatalogue(steps.offer().catalogue, models)),
      );
    },
  });
  return [
    get('/v1/models', (exchange, allowed) => encodeModelList(allowed.list(), readQuery(exchange))),
    get('/v1/models/info', (exchange, allowed) =>
      encodeModelInfo(allowed.list(), readQuery(exchange)),
    ),
    get(`${MODELS_PATH}*`, (exchange, allowed) => encodeModel(allowed, readModelName(exchange))),
    {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      timeMaxMs: TIME_MAX_MS,
      encodeRefusal: nativeFormat.encodeRefusal,
      async handle(exchange) {
        exchange.answerJson(200, { input_tokens: await countTokens(exchange, steps, readMessage) });
      },
    },
  ];
}

/** The body is that of a message without the fields that only an answer needs. */
function readMessage({ body, header }: TokenQuestion): RequestToCount {
  const source = readJsonBody(body);
  const asMessage = { ...source.value, max_tokens: Number.MAX_SAFE_INTEGER, stream: false };
  return { request: nativeFormat.decodeRequest(asMessage, header).request, source };
}

function readQuery(exchange: Exchange): (name: string) => string | undefined {
  const query = new URLSearchParams(exchange.head.query);
  return (name) => query.get(name) ?? undefined;
}

function readModelName(exchange: Exchange): string {
  const name = exchange.head.path.slice(MODELS_PATH.length);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
