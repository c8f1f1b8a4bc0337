import { checkCeilings, contextWindowOf } from '../catalogue/check-ceilings.ts';
import { affordableOutputTokens, estimateHold } from '../catalogue/estimate-hold.ts';
import { estimateTokens, type TokenEstimate } from '../catalogue/estimate-tokens.ts';
import { type Model, refuseUnknownModel } from '../catalogue/resolve-model.ts';
import type { Format } from '../protocol/format.ts';
import { readJsonBody } from '../protocol/parse-json-body.ts';
import { Refusal } from '../protocol/refusals.ts';
import { type AnswerEnd, createMeter } from './meter-usage.ts';
import { RequestRecorder } from './record-request.ts';
import { sendStream } from './send-stream.ts';
import { sendWhole } from './send-whole.ts';
import type { ClientSide, Steps } from './steps.ts';

/** Serves one request, and tells once what became of it. */
export async function runInference(
  client: ClientSide,
  format: Format,
  steps: Steps,
): Promise<void> {
  const { requestId } = client;
  const { name: route, statusOf } = format;
  const trace = steps.startTrace(client);
  const recorder = new RequestRecorder({ requestId, route, statusOf, trace });
  try {
    await serve(client, format, steps, recorder);
  } catch (error) {
    recorder.noteFailure(error, client.signal.aborted);
    throw error;
  } finally {
    steps.observe(recorder.close());
  }
}

/**
 * THE SPINE: what happens to one request, in order. Both formats, every model and every upstream go this way;
 * every step may throw a `Refusal`, which the exchange writes in the format's own words.
 *
 *   key ─▶ body ─▶ decode + validate ─▶ model ─▶ ceilings ─▶ ADMIT ─▶ infer ─▶ encode / stream ─▶ SETTLE
 *    401   408 413    400 415            404        400       401 402    5xx                       always
 *    429                                                      403 429 503
 */
async function serve(
  client: ClientSide,
  format: Format,
  steps: Steps,
  recorder: RequestRecorder,
): Promise<void> {
  const header = (name: string) => client.header(name);
  const key = steps.checkKey(client);
  recorder.noteKey(key);
  checkContentType(header('content-type'));

  const source = await readBody(client, recorder);
  const { request, wantsStreamUsage } = format.decodeRequest(source.value, header);
  const model = steps.catalogue.resolve(request.model);
  if (model === undefined) throw refuseUnknownModel(request.model);
  recorder.noteRequest(model.id, request.isStream);
  const { bytesPerToken, overCeiling, configVersion } = steps;
  const estimate = estimateTokens(request, bytesPerToken);
  const askedTokensMax = checkCeilings(model, request, { overCeiling, estimate });

  const { price } = model;
  const isElastic = request.outputTokensMax === undefined;
  const hold = estimateHold({ estimate, outputTokensMax: askedTokensMax, isElastic, price });
  const meter = createMeter({ price, inputTokens: estimate.likely, bytesPerToken });
  const admission = await steps.admit({
    holdMicros: hold.holdMicros,
    holdLeastMicros: hold.holdLeastMicros,
    key,
    requestId: client.requestId,
    modelNames: [model.id, ...model.aliases],
    seenMicros: () => meter.seenMicros(),
    tellRate: (rate) => client.addHeaders(format.encodeRate(rate)),
    stop: (refusal) => client.abort(refusal),
  });
  recorder.noteAdmission(admission.heldMicros);
  const bodyBytes = source.bytes.length;
  const sizes = { bodyBytes, estimatedTokens: estimate.likely, outputTokensMax: askedTokensMax };

  let end: AnswerEnd = 'undelivered';
  try {
    const { heldMicros } = admission;
    const isCut = heldMicros < hold.holdMicros;
    const outputTokensMax = isCut
      ? cutOutput(client, { model, estimate, heldMicros })
      : askedTokensMax;
    const context = { createdSeconds: Math.floor(steps.nowMs() / 1_000), wantsStreamUsage };
    const parts = steps.infer({
      request,
      model: model.id,
      outputTokensMax,
      contextTokensMax: contextWindowOf(model, request),
      form: { format: format.name, context },
      source,
      noteTries: (tries) => recorder.noteTries(tries),
      trace: recorder.trace,
      signal: client.signal,
    });
    end = request.isStream
      ? await sendStream({ client, parts, format, context, meter, recorder })
      : await sendWhole({ client, parts, format, context, meter, recorder, heldMicros });
  } catch (error) {
    recorder.noteFailure(error, client.signal.aborted);
    throw error;
  } finally {
    if (client.signal.aborted && end !== 'complete') end = 'left';
    const bill = meter.close(end);
    recorder.noteBill(bill, end);
    const settings = { price, configVersion };
    admission.settle(bill, recorder.describe(sizes, settings, steps.nowMs()));
  }
}

async function readBody(client: ClientSide, recorder: RequestRecorder) {
  recorder.beginClientWait();
  const bytes = await client.body();
  recorder.endClientWait();
  const body = readJsonBody(bytes);
  recorder.noteBody();
  return body;
}

/** A request that names no type gets the benefit of the doubt. */
function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || /^application\/(json|[\w.-]+\+json)\b/i.test(contentType))
    return;
  throw new Refusal('not_json', 'content-type: must be application/json');
}

interface CutRequest {
  readonly model: Model;
  readonly estimate: TokenEstimate;
  readonly heldMicros: number;
}

/** The client left the length of the answer to us, and has not the credits for the longest. */
function cutOutput(client: ClientSide, { model, estimate, heldMicros }: CutRequest): number {
  const tokensMax = affordableOutputTokens({ estimate, heldMicros, price: model.price });
  client.addHeaders({ 'x-tollgate-max-tokens': String(tokensMax) });
  return tokensMax;
}
