import type { AnswerPart, Try } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { Trace } from '../protocol/trace-context.ts';
import { type AskedSizes, describeRequest } from './describe-request.ts';
import type { AnswerEnd, Bill } from './meter-usage.ts';
import type { RequestRecord } from './request-record.ts';
import type { ApiKey } from './steps.ts';

/** Notes what becomes of one request while it runs, at the price of a few assignments. */
export interface RequestRecorder {
  readonly trace: Trace | undefined;
  noteKey(key: ApiKey): void;
  noteBody(): void;
  noteRequest(request: { readonly model: string; readonly isStream: boolean }): void;
  noteAdmission(heldMicros: number): void;
  noteTries(tries: readonly Try[]): void;
  /** What is waited for neither here nor for the client is the gateway's own time. */
  timeUpstream(parts: AsyncIterable<AnswerPart>): AsyncIterable<AnswerPart>;
  waitForClient<Value>(wait: Promise<Value>): Promise<Value>;
  /** The status line goes out. */
  noteAnswer(): void;
  /** What ended the request, or a stream that had begun. */
  noteFailure(error: unknown, hasClientLeft: boolean): void;
  noteBill(bill: Bill, end: AnswerEnd): void;
  /** For the ledger, when all is known but the charge: it is settled at this moment. */
  describe(sizes: AskedSizes, nowMs: number): RequestDetails;
  close(): RequestRecord;
}

interface RecorderOptions {
  readonly requestId: string;
  readonly route: 'native' | 'chat';
  readonly statusOf: (refusal: Refusal) => number;
  readonly trace: Trace | undefined;
}

const FAULT_STATUS = 500;
const DONE: IteratorResult<AnswerPart> = { done: true, value: undefined };

export function createRequestRecorder(options: RecorderOptions): RequestRecorder {
  const record = openRecord(options);
  return {
    trace: options.trace,
    noteKey({ keyId, masked }) {
      record.keyId = keyId;
      record.maskedKey = masked;
    },
    noteBody() {
      record.bodyMs = performance.now();
    },
    noteRequest({ model, isStream }) {
      record.model = model;
      record.isStream = isStream;
    },
    noteAdmission(heldMicros) {
      record.admittedMs = performance.now();
      record.heldMicros = heldMicros;
    },
    noteTries(tries) {
      record.tries = tries;
      record.upstream = tries.at(-1)?.upstream;
    },
    timeUpstream: (parts) => timeParts(parts, record),
    async waitForClient(wait) {
      const fromMs = performance.now();
      try {
        return await wait;
      } finally {
        record.clientWaitMs += performance.now() - fromMs;
      }
    },
    noteAnswer() {
      record.status = 200;
    },
    noteFailure(error, hasClientLeft) {
      if (!(error instanceof Refusal) && hasClientLeft) {
        record.outcome = 'left';
        return;
      }
      const isRefusal = error instanceof Refusal;
      record.refusal = isRefusal ? error.refusal : 'fault';
      record.status ??= isRefusal ? options.statusOf(error) : FAULT_STATUS;
    },
    noteBill({ usage, chargeMicros, isEstimated }, end) {
      record.usage = usage;
      record.chargeMicros = chargeMicros;
      record.isEstimated = isEstimated;
      record.outcome = end;
      record.isUsageMissing = isEstimated && end === 'complete';
    },
    describe(sizes, nowMs) {
      record.endMs = performance.now();
      return describeRequest(record, sizes, nowMs);
    },
    close() {
      record.endMs = performance.now();
      return record;
    },
  };
}

type OpenRecord = { -readonly [Field in keyof RequestRecord]: RequestRecord[Field] };

function openRecord({ requestId, route, trace }: RecorderOptions): OpenRecord {
  const startedMs = performance.now();
  return {
    requestId,
    route,
    trace,
    keyId: undefined,
    maskedKey: undefined,
    model: undefined,
    upstream: undefined,
    tries: [],
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
  };
}

function timeParts(
  parts: AsyncIterable<AnswerPart>,
  record: OpenRecord,
): AsyncIterable<AnswerPart> {
  const wait = async (next: Promise<IteratorResult<AnswerPart>>) => {
    const fromMs = performance.now();
    try {
      const result = await next;
      record.firstEventMs ??= performance.now();
      return result;
    } finally {
      record.upstreamWaitMs += performance.now() - fromMs;
    }
  };
  return {
    [Symbol.asyncIterator]() {
      const iterator = parts[Symbol.asyncIterator]();
      return {
        next: () => wait(iterator.next()),
        return: async () => (await iterator.return?.()) ?? DONE,
      };
    },
  };
}
