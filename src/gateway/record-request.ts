import type { ApiKey, Bill } from '../protocol/admission.ts';
import type { FormatName } from '../protocol/format-names.ts';
import type { Try } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { Trace } from '../protocol/trace-context.ts';
import { type AskedSizes, describeRequest, type ServedBy } from './describe-request.ts';
import type { AnswerEnd } from './meter-usage.ts';
import type { RequestRecord } from './request-record.ts';

interface RecorderOptions {
  readonly requestId: string;
  readonly route: FormatName;
  readonly statusOf: (refusal: Refusal) => number;
  readonly trace: Trace | undefined;
}

type OpenRecord = { -readonly [Field in keyof RequestRecord]: RequestRecord[Field] };

const FAULT_STATUS = 500;
const NO_TRIES: readonly Try[] = [];

/**
 * Notes what becomes of one request while it runs, at the price of a few assignments. What is waited for neither
 * at the upstream nor for the client is the gateway's own time. A class, because one is made for every request.
 */
export class RequestRecorder {
  readonly #record: OpenRecord;
  readonly #statusOf: RecorderOptions['statusOf'];
  #upstreamAskedMs: number | undefined;
  #clientAskedMs: number | undefined;

  constructor({ requestId, route, trace, statusOf }: RecorderOptions) {
    this.#record = openRecord(requestId, route, trace);
    this.#statusOf = statusOf;
  }

  get trace(): Trace | undefined {
    return this.#record.trace;
  }

  noteKey({ keyId, masked }: ApiKey): void {
    this.#record.keyId = keyId;
    this.#record.maskedKey = masked;
  }

  noteBody(): void {
    this.#record.bodyMs = performance.now();
  }

  noteRequest(model: string, isStream: boolean): void {
    this.#record.model = model;
    this.#record.isStream = isStream;
  }

  noteAdmission(heldMicros: number): void {
    this.#record.admittedMs = performance.now();
    this.#record.heldMicros = heldMicros;
  }

  noteTries(tries: readonly Try[]): void {
    this.#record.tries = tries;
    this.#record.upstream = tries.at(-1)?.upstream;
  }

  beginUpstreamWait(): void {
    this.#upstreamAskedMs = performance.now();
  }

  /** The upstream has answered. A wait that fails ends with `noteFailure`. */
  endUpstreamWait(): void {
    this.#record.firstEventMs ??= performance.now();
    this.#endWaits();
  }

  /** For its body, or for it to read what it got. */
  beginClientWait(): void {
    this.#clientAskedMs = performance.now();
  }

  endClientWait(): void {
    this.#endWaits();
  }

  /** The status line goes out. */
  noteAnswer(): void {
    this.#record.status = 200;
  }

  /** What ended the request, or a stream that had begun. */
  noteFailure(error: unknown, hasClientLeft: boolean): void {
    this.#endWaits();
    const isRefusal = error instanceof Refusal;
    if (!isRefusal && hasClientLeft) {
      this.#record.outcome = 'left';
      return;
    }
    this.#record.refusal = isRefusal ? error.refusal : 'fault';
    this.#record.status ??= isRefusal ? this.#statusOf(error) : FAULT_STATUS;
  }

  noteBill(bill: Bill, end: AnswerEnd): void {
    const { usage, chargeMicros, isEstimated, isImplausible } = bill;
    const record = this.#record;
    record.usage = usage;
    record.chargeMicros = chargeMicros;
    record.isEstimated = isEstimated;
    record.isUsageImplausible = isImplausible;
    record.outcome = end;
    record.isUsageMissing = isEstimated && end === 'complete';
  }

  /** For the ledger, when all is known but the charge: it is settled at this moment. */
  describe(sizes: AskedSizes, servedBy: ServedBy, nowMs: number): RequestDetails {
    this.#record.endMs = performance.now();
    return describeRequest(this.#record, sizes, servedBy, nowMs);
  }

  close(): RequestRecord {
    this.#record.endMs = performance.now();
    return this.#record;
  }

  #endWaits(): void {
    const record = this.#record;
    const nowMs = performance.now();
    if (this.#upstreamAskedMs !== undefined) record.upstreamWaitMs += nowMs - this.#upstreamAskedMs;
    if (this.#clientAskedMs !== undefined) record.clientWaitMs += nowMs - this.#clientAskedMs;
    this.#upstreamAskedMs = undefined;
    this.#clientAskedMs = undefined;
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
    model: undefined,
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
