import { checkCeilings, contextWindowOf } from '../catalogue/check-ceilings.ts';
import { estimateTokens } from '../catalogue/estimate-tokens.ts';
import { refuseUnknownModel } from '../catalogue/resolve-model.ts';
import type { Format } from '../protocol/format.ts';
import { parseJsonBody } from '../protocol/parse-json-body.ts';
import { readApiKey } from '../protocol/read-api-key.ts';
import { Refusal } from '../protocol/refusals.ts';
import { sendStream } from './send-stream.ts';
import { sendWhole } from './send-whole.ts';
import type { ClientSide, Steps } from './steps.ts';

/**
 * THE SPINE: what happens to one request, in order. Both formats, every model and every upstream go this way;
 * every step may throw a `Refusal`, which the exchange writes in the format's own words.
 *
 *   key ─▶ body ─▶ decode + validate ─▶ model ─▶ ceilings ─▶ infer ─▶ encode / stream
 *    401   408 413    400 415            404        400        5xx
 */
export async function runInference(
  client: ClientSide,
  format: Format,
  steps: Steps,
): Promise<void> {
  const header = (name: string) => client.header(name);
  steps.authenticate(readApiKey(header));
  checkContentType(header('content-type'));

  const body = parseJsonBody(await client.body());
  const { request, wantsStreamUsage } = format.decodeRequest(body, header);
  const model = steps.catalogue.resolve(request.model);
  if (model === undefined) throw refuseUnknownModel(request.model);
  const outputTokensMax = checkCeilings(model, request, {
    overCeiling: steps.overCeiling,
    estimate: estimateTokens(request),
  });

  const events = steps.infer({
    request,
    model: model.id,
    outputTokensMax,
    contextTokensMax: contextWindowOf(model, request),
    signal: client.signal,
  });
  const context = { createdSeconds: Math.floor(steps.nowMs() / 1_000), wantsStreamUsage };
  if (request.isStream) await sendStream(client, events, format, context);
  else await sendWhole(client, events, format, context);
}

/** A request that names no type gets the benefit of the doubt. */
function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || /^application\/(json|[\w.-]+\+json)\b/i.test(contentType))
    return;
  throw new Refusal('not_json', 'content-type: must be application/json');
}
