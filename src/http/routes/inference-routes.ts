import { runInference } from '../../gateway/run-inference.ts';
import type { Steps } from '../../gateway/steps.ts';
import { chatFormat } from '../../protocol/chat/chat-format.ts';
import type { Format } from '../../protocol/format.ts';
import { nativeFormat } from '../../protocol/native/native-format.ts';
import type { HttpRoute } from './route-table.ts';

/** Above every time that an upstream is given, so that those are what a client gets to see. */
const INFERENCE_TIME_MAX_MS = 24 * 60 * 60 * 1_000;

/** The two routes that models answer on; they differ in their format only. */
export function createInferenceRoutes(steps: Steps): HttpRoute[] {
  return [
    createInferenceRoute('/v1/messages', nativeFormat, steps),
    createInferenceRoute('/v1/chat/completions', chatFormat, steps),
  ];
}

function createInferenceRoute(path: string, format: Format, steps: Steps): HttpRoute {
  return {
    method: 'POST',
    path,
    timeMaxMs: INFERENCE_TIME_MAX_MS,
    encodeRefusal: format.encodeRefusal,
    statusOf: format.statusOf,
    handle: (exchange) => runInference(exchange, format, steps),
  };
}
