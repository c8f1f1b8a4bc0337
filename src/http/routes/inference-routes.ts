import { runInference } from '../../gateway/run-inference.ts';
import type { Steps } from '../../gateway/steps.ts';
import { chatFormat } from '../../protocol/chat/chat-format.ts';
import { embeddingsFormat } from '../../protocol/embeddings/embeddings-format.ts';
import type { RouteFormat } from '../../protocol/format.ts';
import { ROUTE_PATHS } from '../../protocol/format-names.ts';
import { nativeFormat } from '../../protocol/native/native-format.ts';
import { responsesFormat } from '../../protocol/responses/responses-format.ts';
import type { HttpRoute } from './route-table.ts';

/** Longer than any time limit of an upstream, so that clients see those limits instead. */
const INFERENCE_TIME_MAX_MS = 24 * 60 * 60 * 1_000;

const FORMATS = [nativeFormat, chatFormat, responsesFormat, embeddingsFormat];

/** The routes for which models work. They differ only in their format. */
export function createInferenceRoutes(steps: Steps): HttpRoute[] {
  return FORMATS.map((format) => createInferenceRoute(format, steps));
}

function createInferenceRoute(format: RouteFormat, steps: Steps): HttpRoute {
  return {
    method: 'POST',
    path: ROUTE_PATHS[format.name],
    timeMaxMs: INFERENCE_TIME_MAX_MS,
    encodeRefusal: format.encodeRefusal,
    statusOf: format.statusOf,
    handle: (exchange) => runInference(exchange, format, steps),
  };
}
