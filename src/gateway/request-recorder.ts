import type { ApiKey, Bill } from '../protocol/admission.ts';
import type { RouteName } from '../protocol/format-names.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { Try } from '../protocol/try.ts';
import { describeRequest, type RequestTerms } from './describe-request.ts';
import type { AnswerEnd } from './meter.ts';
import type { RequestRecord } from './request-record.ts';

interface RecorderOptions {
  readonly requestId: string;
  readonly route: RouteName;
  readonly statusOf: (refusal: Refusal) => number;
  readonly trace: Trace | undefined;
}

type OpenRecord = { -readonly [Field in keyof RequestRecord]: RequestRecord[Field] };

/**
 * The party that a request waits for. Time in which it waits for nobody is the gateway's own time.
 */
type Party = 'upstream' | 'client' | 'nobody';

const FAULT_STATUS = 500;
const NO_TRIES: readonly Try[] = [];

/**
 * Notes what becomes of one request while it runs, at the cost of a few assignments: one call for
 * each step that it passes, and one for each change of the party that it waits for.
 */
export class RequestRecorder {
  readonly #record: OpenRecord;
  readonly #statusOf: RecorderOptions['statusOf'];
  #awaited: Party = 'nobody';
  #awaitedSinceMs = 0;

  constructor({ requestId, route, trace, statusOf }: RecorderOptions) {
    this.#record = openRecord(requestId, route, trace);
    this.#statusOf = statusOf;
  }

  get trace(): Trace | undefined {
    return this.#record.trace;
  }

  /** The client's body comes next, so the request waits for the client from here on. */
  noteKey({ keyId, masked, isProven }: ApiKey): void {
    this.#record.keyId = keyId;
    this.#record.isKeyProven = isProven;
    this.#record.maskedKey = masked;
    this.waitFor('client');
  }

  noteBody(): void {
    this.#record.bodyMs = this.#endWait();
  }

  noteRequest(model: string, isStream: boolean, droppedTools = 0): void {
    this.#record.model = model;
    this.#record.isStream = isStream;
    this.#record.droppedTools = droppedTools;
  }

  noteAdmission(heldMicros: number): void {
    this.#record.admittedMs = performance.now();
    this.#record.heldMicros = heldMicros;
  }

  noteTries(tries: readonly Try[]): void {
    this.#record.tries = tries;
    this.#record.upstream = tries.at(-1)?.upstream;
  }

  /**
   * The end of a wait for the upstream means that it has answered. A wait that fails ends with
   * `noteFailure` instead.
   */
  waitFor(next: Party): void {
    const wasUpstream = this.#awaited === 'upstream';
    const nowMs = this.#endWait();
    if (wasUpstream) this.#record.firstEventMs ??= nowMs;
    this.#awaited = next;
  }

  /** The status line goes out. */
  noteAnswer(): void {
    this.#record.status = 200;
  }

  /** Notes what ended the request, or a stream that had begun. */
  noteFailure(error: unknown, hasClientLeft: boolean): void {
    this.#endWait();
    const isRefusal = error instanceof Refusal;
    if (!isRefusal && hasClientLeft) {
      this.#record.outcome = 'left';
      return;
    }
    this.#record.refusal = isRefusal ? error.refusal : 'fault';
    this.#record.status ??= isRefusal ? this.#statusOf(error) : FAULT_STATUS;
  }

  /**
   * Returns the details for the ledger: everything but the charge, which is settled at this moment.
   */
  noteBill(bill: Bill, end: AnswerEnd, terms: RequestTerms, nowMs: number): RequestDetails {
    const { usage, chargeMicros, isEstimated, isImplausible } = bill;
    const record = this.#record;
    record.usage = usage;
    record.chargeMicros = chargeMicros;
    record.isEstimated = isEstimated;
    record.isUsageImplausible = isImplausible;
    record.outcome = end;
    record.isUsageMissing = isEstimated && end === 'complete';
    record.endMs = performance.now();
    return describeRequest(record, terms, nowMs);
  }

  close(): RequestRecord {
    this.#record.endMs = performance.now();
    return this.#record;
  }

  /** Ends the current wait and returns the present moment. */
  #endWait(): number {
    const nowMs = performance.now();
    const waitedMs = nowMs - this.#awaitedSinceMs;
    if (this.#awaited === 'upstream') this.#record.upstreamWaitMs += waitedMs;
    else if (this.#awaited === 'client') this.#record.clientWaitMs += waitedMs;
    this.#awaited = 'nobody';
    this.#awaitedSinceMs = nowMs;
    return nowMs;
  }
}

function openRecord(
  requestId: string,
  route: OpenRecord['route'],
  trace: Trace | undefined,
): OpenRecord {
  const startedMs = performance.now();
  return {
    requestId,
    route,
    trace,
    keyId: undefined,
    maskedKey: undefined,
    isKeyProven: false,
    model: undefined,
    droppedTools: 0,
    upstream: undefined,
    tries: NO_TRIES,
    isStream: false,
    status: undefined,
    refusal: undefined,
    outcome: 'refused',
    startedMs,
    bodyMs: undefined,
    admittedMs: undefined,
    firstEventMs: undefined,
    endMs: startedMs,
    upstreamWaitMs: 0,
    clientWaitMs: 0,
    usage: undefined,
    chargeMicros: 0,
    heldMicros: 0,
    isEstimated: false,
    isUsageMissing: false,
    isUsageImplausible: false,
  };
}
