import { type Model, refuseUnknownModel } from '../catalogue/catalogue.ts';
import { checkModelKind } from '../catalogue/check-model-kind.ts';
import { hasPdfs } from '../catalogue/count-files.ts';
import { affordableOutputTokens } from '../catalogue/estimate-hold.ts';
import type { Admission, ApiKey } from '../protocol/admission.ts';
import { asksToThink } from '../protocol/asks-to-think.ts';
import { findEndUser } from '../protocol/find-end-user.ts';
import type { RouteFormat } from '../protocol/format.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AnswerReservation } from './answer-keeper.ts';
import { checkContentType } from './check-content-type.ts';
import { checkEncoding } from './check-encoding.ts';
import { ClientLeave, type HiddenCost } from './client-leave.ts';
import type { ClientSide } from './client-side.ts';
import type { Delivery } from './delivery.ts';
import type { RequestTerms } from './describe-request.ts';
import { findBounds, isInputUnsure, type RequestBounds } from './find-bounds.ts';
import { isLarge, takeLargeBody } from './large-body.ts';
import { type AnswerEnd, createMeter, type MeterOptions } from './meter.ts';
import type { ClientRequest } from './read-request.ts';
import { readResolved } from './read-resolved.ts';
import { RequestRecorder } from './request-recorder.ts';
import { sendStream } from './send-stream.ts';
import { sendWhole } from './send-whole.ts';
import type { Steps } from './steps.ts';
import { type AnswerTerms, createAnswerTerms } from './thoughts/answer-terms.ts';

/**
 * THE SPINE: what happens to one request, in order. All formats, every model and every upstream
 * take this path. Every step may throw a `Refusal`, which the exchange writes in the client's
 * format.
 *
 *   openAnswer     key ─▶ body ─▶ decode + validate ─▶ model ─▶ ceilings ─▶ ADMIT ──┐
 *   sendAnswer     infer ─▶ encode / stream ◀────────────────────────────────────────┘
 *                                  │
 *   runInference                   └──▶ SETTLE ─▶ observe
 *                                       always    always
 *
 * It has three parts because thousands of streams may be open for a long time. While a function
 * waits, it keeps all of its variables alive, and those of `openAnswer` hold the body and
 * everything read from it. So `openAnswer` returns when `sendAnswer` has begun, and
 * `runInference` alone waits for the end of the answer, with nothing but an `OpenAnswer`.
 */
export async function runInference(
  client: ClientSide,
  format: RouteFormat,
  steps: Steps,
): Promise<void> {
  const { requestId } = client;
  const { name: route } = format;
  const header = (name: string) => client.header(name);
  const statusOf = (refusal: Refusal) => format.statusOf(refusal, header);
  const trace = steps.startTrace(client);
  const recorder = new RequestRecorder({ requestId, route, statusOf, trace });
  try {
    const opened = await openAnswer(client, format, steps, recorder);
    const { sending, leave, admission, reservation, requestTerms } = opened;
    let end: AnswerEnd = 'undelivered';
    try {
      end = await sending;
    } catch (error) {
      // The settlement records the failure. Noting it again below changes nothing.
      if (!leave.isUnread || !(error instanceof Refusal)) {
        recorder.noteFailure(error, client.signal.aborted);
        throw error;
      }
    } finally {
      reservation?.release();
      if (leave.signal.aborted && end !== 'complete') end = 'left';
      const bill = leave.closeBill(end, admission.heldMicros);
      const outcome = leave.hasLeft ? 'left' : end;
      admission.settle(bill, recorder.noteBill(bill, outcome, requestTerms, steps.nowMs()));
    }
  } catch (error) {
    recorder.noteFailure(error, client.signal.aborted);
    throw error;
  } finally {
    steps.observe(recorder.close());
  }
}

/** All that stays in memory of a request while its answer runs. */
interface OpenAnswer {
  readonly sending: Promise<AnswerEnd>;
  readonly leave: ClientLeave;
  readonly admission: Admission;
  readonly reservation: AnswerReservation | undefined;
  readonly requestTerms: RequestTerms;
}

/** Goes from the key to the admission, then begins to send the answer without waiting for it. */
async function openAnswer(
  client: ClientSide,
  format: RouteFormat,
  steps: Steps,
  recorder: RequestRecorder,
): Promise<OpenAnswer> {
  const header = (name: string) => client.header(name);
  const key = steps.checkKey(client);
  recorder.noteKey(key);
  checkContentType(header('content-type'));
  checkEncoding(header);

  const body = await client.body(key);
  recorder.noteBody();
  if (isLarge(body.length)) await checkLargeBody(client, key, body.length, steps);
  const read = readResolved({ body, format, header, steps, key });
  const asked = read instanceof Promise ? await read : read;
  const { request, source } = asked;
  const offer = steps.offer();
  const model = offer.catalogue.resolve(request.model);
  if (model === undefined) throw refuseUnknownModel(request.model);
  recorder.noteRequest(model.id, request.isStream, asked.response?.droppedTools);
  checkModelKind(model, request);
  const bounds = findBounds(asked, model, steps);
  const meter = createMeter(meterOptionsOf(model, bounds, steps));
  const leave = new ClientLeave(client, meter, steps.unread, hiddenCostOf(asked, model.id, bounds));
  const admission = await steps.admit({
    holdMicros: bounds.hold.holdMicros,
    holdLeastMicros: bounds.hold.holdLeastMicros,
    tokens: bounds.demand,
    endUser: findEndUser(steps.endUserSources, header, source.value),
    key,
    plans: offer.plans,
    requestId: client.requestId,
    modelNames: [model.id, ...model.aliases],
    seenMicros: () => meter.seenMicros(leave.isSent()),
    sendRate: (...rates) => client.addHeaders(format.encodeRate(...rates)),
    stop: (refusal) => leave.refuse(refusal),
  });
  recorder.noteAdmission(admission.heldMicros);
  if (isLarge(body.length)) steps.unpaidBodies.noteAdmitted(admission.accountId, body.length);
  if (asked.hasRecalled === true) steps.answerKeeper?.noteAdmitted(key);
  const addressee = { client, format, leave, meter, recorder };
  const order = { asked, ownBytes: body.length, key, admission, model, steps, bounds };
  const { sending, reservation } = sendAnswer(addressee, order);
  const requestTerms: RequestTerms = {
    bodyBytes: source.bytes.length,
    estimatedTokens: bounds.estimate.likely,
    outputTokensMax: bounds.outputTokensMax,
    price: model.price,
    configVersion: steps.configVersion,
    catalogueVersion: offer.version,
  };
  return { sending, leave, admission, reservation, requestTerms };
}

/** Asks for the account first if this worker has not met the key. */
async function checkLargeBody(
  client: ClientSide,
  key: ApiKey,
  bodyBytes: number,
  steps: Steps,
): Promise<void> {
  let { accountId } = key;
  if (accountId === undefined) {
    ({ accountId } = await steps.prove(key));
    await client.body({ ...key, accountId });
  }
  await takeLargeBody(accountId, bodyBytes, steps);
}

/** The meter lives as long as the answer, so it gets no more than it needs. */
function meterOptionsOf({ id, price }: Model, bounds: RequestBounds, steps: Steps): MeterOptions {
  const { estimate, input, contextTokensMax, outputTokensMax, searchesMax } = bounds;
  const ratio = steps.ratioOf(id);
  return { price, estimate, ratio, input, contextTokensMax, outputTokensMax, searchesMax };
}

function reserveAnswer(order: Order): AnswerReservation | undefined {
  const { asked, ownBytes, key, admission, steps } = order;
  if (asked.newItems === undefined) return undefined;
  const owned = { ...key, accountId: admission.accountId };
  return steps.answerKeeper?.reserve(owned, asked.newItems, ownBytes);
}

function hiddenCostOf(
  { request, source }: ClientRequest,
  model: string,
  { searchesMax, estimate }: RequestBounds,
): HiddenCost {
  return {
    model,
    isStream: request.isStream,
    asksToThink: asksToThink(source.value),
    maySearch: searchesMax > 0,
    isInputUnsure: isInputUnsure(estimate),
    requestBytes: source.bytes.length,
  };
}

type Addressee = Pick<Delivery, 'client' | 'format' | 'leave' | 'meter' | 'recorder'>;

interface Order {
  readonly asked: ClientRequest;
  /** The size of the body itself, without what it refers to. */
  readonly ownBytes: number;
  readonly key: ApiKey;
  readonly admission: Pick<Admission, 'accountId' | 'heldMicros' | 'outputTokensRoom'>;
  readonly model: Model;
  readonly bounds: RequestBounds;
  readonly steps: Steps;
}

/** Failures from here on become rejections: credits are held and must be settled. */
function sendAnswer(
  { client, format, leave, meter, recorder }: Addressee,
  order: Order,
): Pick<OpenAnswer, 'sending' | 'reservation'> {
  const { asked, model, steps, admission } = order;
  const { heldMicros } = admission;
  let reservation: AnswerReservation | undefined;
  try {
    reservation = reserveAnswer(order);
    const { context, reasoning } = createAnswerTerms(client, asked, { admission, model }, steps);
    const delivery = { client, format, leave, meter, recorder, context, heldMicros, reservation };
    return { sending: askUpstream(delivery, order, reasoning), reservation };
  } catch (error) {
    return { sending: Promise.reject(error), reservation };
  }
}

function askUpstream(
  delivery: Delivery,
  order: Order,
  reasoning: AnswerTerms['reasoning'],
): Promise<AnswerEnd> {
  const { client, format, leave, meter, recorder, context, heldMicros } = delivery;
  const { asked, model, steps, bounds, admission } = order;
  const { request, readWhole, source } = asked;
  const { input, contextTokensMax } = bounds;
  const isPaid = heldMicros >= bounds.hold.holdMicros;
  const { price } = model;
  const affordable = isPaid ? Infinity : affordableOutputTokens({ input, heldMicros, price });
  const outputTokensMax = Math.min(bounds.outputTokensMax, admission.outputTokensRoom, affordable);
  const promisedMax = (request.outputTokensMax === undefined ? model : bounds).outputTokensMax;
  if (outputTokensMax < promisedMax) addCutHeader(client, outputTokensMax);
  meter.limitOutput(outputTokensMax);
  const parts = steps.infer({
    requestId: client.requestId,
    accountId: admission.accountId,
    request,
    readWhole,
    model: model.id,
    outputTokensMax,
    contextTokensMax,
    isBetaContext: request.isBetaContext && model.betaContextTokensMax !== undefined,
    form: { format: format.name, context },
    hasPdfs: hasPdfs(bounds.estimate.files),
    source,
    reasoning,
    noteTries: (tries) => recorder.noteTries(tries),
    trace: recorder.trace,
    isUnread: () => leave.isUnread,
    cutOff: () => leave.cutOff(),
    signal: leave.signal,
  });
  leave.follow(parts, admission.accountId);
  return request.isStream ? sendStream(delivery, parts) : sendWhole(delivery, parts);
}

/**
 * The client left the length of the answer to the gateway, but the model's window, the client's
 * credits or a limit of tokens leave no room for the longest answer.
 */
function addCutHeader(client: ClientSide, outputTokensMax: number): void {
  client.addHeaders({ 'x-tollgate-max-tokens': String(outputTokensMax) });
}
