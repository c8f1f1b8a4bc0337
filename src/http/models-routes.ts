import { encodeModel, encodeModelInfo, encodeModelList } from '../catalogue/encode-models.ts';
import { estimateTokens } from '../catalogue/estimate-tokens.ts';
import { refuseUnknownModel } from '../catalogue/resolve-model.ts';
import type { Steps } from '../gateway/steps.ts';
import { encodeHybridRefusal } from '../protocol/encode-hybrid-refusal.ts';
import { nativeFormat } from '../protocol/native/index.ts';
import { parseJsonBody } from '../protocol/parse-json-body.ts';
import { readApiKey } from '../protocol/read-api-key.ts';
import { isObject } from '../protocol/schema.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './routes.ts';

const TIME_MAX_MS = 120_000;
const MODELS_PATH = '/v1/models/';

/** What can be asked of models without using one. It costs nothing, but needs a key. */
export function createModelsRoutes(steps: Steps): Route[] {
  const { catalogue } = steps;
  const authenticate = (exchange: Exchange) =>
    steps.authenticate(readApiKey((name) => exchange.header(name)));
  const get = (path: string, encode: (exchange: Exchange) => string): Route => ({
    method: 'GET',
    path,
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    handle(exchange) {
      authenticate(exchange);
      exchange.answer(
        { status: 200, headers: { 'content-type': 'application/json' } },
        encode(exchange),
      );
    },
  });
  return [
    get('/v1/models', (exchange) => encodeModelList(catalogue.list(), readQuery(exchange))),
    get('/v1/models/info', (exchange) => encodeModelInfo(catalogue.list(), readQuery(exchange))),
    get(`${MODELS_PATH}*`, (exchange) => encodeModel(catalogue, readModelName(exchange))),
    {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      timeMaxMs: TIME_MAX_MS,
      encodeRefusal: nativeFormat.encodeRefusal,
      async handle(exchange) {
        authenticate(exchange);
        const body = parseJsonBody(await exchange.body());
        // The same body as a message, but for what only an answer needs.
        const asMessage = isObject(body)
          ? { ...body, max_tokens: Number.MAX_SAFE_INTEGER, stream: false }
          : body;
        const { request } = nativeFormat.decodeRequest(asMessage, (name) => exchange.header(name));
        if (catalogue.resolve(request.model) === undefined) throw refuseUnknownModel(request.model);
        exchange.answerJson(200, { input_tokens: estimateTokens(request).likely });
      },
    },
  ];
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
