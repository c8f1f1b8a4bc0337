import { createOffer } from '../../../src/catalogue/offer.ts';
import type { ClientSide } from '../../../src/gateway/client-side.ts';
import type { RequestRecord } from '../../../src/gateway/request-record.ts';
import type { Steps } from '../../../src/gateway/steps.ts';
import { createTokenRatios } from '../../../src/gateway/token-ratios.ts';
import { createUnreadList } from '../../../src/gateway/unread-list.ts';
import { readApiKey } from '../../../src/keys/read-api-key.ts';
import { refuseKey } from '../../../src/keys/refuse-key.ts';
import type { AdmissionOrder, Bill } from '../../../src/protocol/admission.ts';
import type { AnswerPart, Infer, InferenceEvent } from '../../../src/protocol/inference.ts';
import { FILE_BOUNDS } from '../catalogue/models.ts';

export const USAGE = {
  input: 5,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  thinking: 0,
  searches: 0,
};
export const START: InferenceEvent = { type: 'start', id: 'msg_1', model: 'm-1', usage: USAGE };
export const ANSWER: readonly InferenceEvent[] = [
  START,
  { type: 'block_start', index: 0, block: { type: 'text' } },
  { type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } },
  { type: 'block_stop', index: 0 },
  {
    type: 'finish',
    stopReason: 'end_turn',
    stopSequence: undefined,
    usage: { ...USAGE, output: 1 },
  },
];

export const partOf = (...events: readonly InferenceEvent[]): AnswerPart => ({
  events,
  contentBytes: 0,
  bytes: undefined,
});

export async function* emit(events: readonly InferenceEvent[]): AsyncGenerator<AnswerPart> {
  for (const event of events) yield partOf(event);
}

const RATE = { nowMs: 1_700_000_000_000, limit: 60, left: 59, resetMs: 60_000, windowMs: 60_000 };

const ORIGIN = { address: '192.0.2.1', isLocal: false, claimed: undefined, cameDirectly: false };

/** The orders that reached the quota, and the outcomes that it was sent. */
export interface Seen {
  readonly orders: AdmissionOrder[];
  readonly bills: Bill[];
  readonly records: RequestRecord[];
}

/** The price is 1 credit per million tokens: a token costs a micro-credit. */
export function createSteps(
  infer: Infer,
  seen: Seen = { orders: [], bills: [], records: [] },
  heldMicros = Number.MAX_SAFE_INTEGER,
  unreadTimeoutMs: number | undefined = undefined,
): Steps {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1 };
  const model = {
    ...{ id: 'm-1', aliases: ['m'], aliasPatterns: [], price },
    ...{
      contextTokensMax: 1_000,
      betaContextTokensMax: undefined,
      isEmbedding: false,
      outputTokensMax: 100,
    },
  };
  const plans = { starter: 60, pro: 300, business: 1_000, team: 2_000 };
  const offer = createOffer({ version: 3, models: [model], plans });
  return {
    startTrace: () => undefined,
    checkKey(caller) {
      const text = readApiKey((name) => caller.header(name));
      if (text !== 'sk-gw2-good') throw refuseKey(text);
      const key = { keyId: 'k', bucket: 0, digest: 'd', masked: 'sk-gw2-…good' };
      return { ...key, origin: ORIGIN, isProven: true, accountId: 'acc_1' };
    },
    async admit(order) {
      seen.orders.push(order);
      order.sendRate(RATE, []);
      return {
        accountId: 'acc_1',
        heldMicros: Math.min(heldMicros, order.holdMicros),
        outputTokensRoom: Number.MAX_SAFE_INTEGER,
        settle: (bill) => seen.bills.push(bill),
      };
    },
    unpaidBodies: { take: async () => 0, noteAdmitted: () => {} },
    prove: async () => ({ accountId: 'acc_1' }),
    async admitFree() {
      return { accountId: 'a', models: undefined };
    },
    async describeKey() {
      throw new Error('nobody asks for it here');
    },
    offer: () => offer,
    configVersion: '0123456789ab-1',
    overCeiling: 'reject',
    endUserSources: [{ kind: 'field', path: ['user'] }],
    outputHeldMax: undefined,
    estimate: { ...FILE_BOUNDS, bytesPerToken: 3 },
    ratioOf: createTokenRatios(3),
    answerKeeper: undefined,
    reasoning: {
      sealOf: () => ({ seal: () => undefined, open: () => undefined, isReady: () => false }),
    },
    infer,
    unread: createUnreadList(unreadTimeoutMs),
    upstreamFormats: new Set(['native', 'chat']),
    observe: (record) => seen.records.push(record),
    nowMs: () => 1_700_000_000_000,
  };
}

/** A client that keeps what it gets, and can leave or be slow. */
export function createClient(body: object, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const all: Record<string, string> = {
    'x-api-key': 'sk-gw2-good',
    'llm-version': '2023-06-01',
    ...headers,
  };
  const got = { heads: 0, bodiesRead: 0, answer: '', text: '', ended: false };
  const added: Record<string, string> = {};
  let drain: Promise<void> | undefined;
  let isGone = false;
  const client: ClientSide = {
    requestId: 'req_1',
    signal: leaving.signal,
    peerAddress: '127.0.0.1',
    header: (name) => all[name],
    addHeaders: (headers) => Object.assign(added, headers),
    abort: (refusal) => leaving.abort(refusal),
    cutOff: () => {
      isGone = true;
    },
    async body() {
      got.bodiesRead++;
      return Buffer.from(JSON.stringify(body));
    },
    answer(_head, body) {
      got.heads++;
      got.answer = Buffer.from(body).toString();
    },
    startStream() {
      got.heads++;
      return {
        get isFinished() {
          return isGone || got.ended;
        },
        write(chunk) {
          got.text += Buffer.from(chunk).toString();
          return drain;
        },
        writeLast(chunk) {
          const drained = this.write(chunk);
          if (drained === undefined) this.endStream();
          return drained?.then(() => this.endStream());
        },
        endStream() {
          if (!isGone) got.ended = true;
        },
      };
    },
  };
  return {
    client,
    got,
    added,
    leave() {
      isGone = true;
      leaving.abort(new Error('gone'));
    },
    /** The client has read nothing for too long. */
    cutOff() {
      isGone = true;
    },
    beSlow: (until: Promise<void>) => {
      drain = until;
    },
  };
}

export const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
