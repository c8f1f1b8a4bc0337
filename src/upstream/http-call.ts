import type { StopSignal } from '../lib/time/stop-signal.ts';
import { createAnswerNamer } from '../protocol/answers/answer-namer.ts';
import type { InferenceCall } from '../protocol/inference.ts';
import { brokenAnswer } from '../protocol/json/upstream-json.ts';
import { Refusal, type RefusalDetails } from '../protocol/refusals.ts';
import type { Sealer } from '../protocol/sealed-reasoning.ts';
import type { MaskText } from '../protocol/sse/mask-frame.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import type { Deadline, DeadlineList } from '../timers/deadline-list.ts';
import type { AnswerDeadlines, Overdue } from './answer-deadlines.ts';
import type { AnswerMemory, GrowingAnswer } from './answer-memory.ts';
import {
  type AnswerHolder,
  type AnswerReader,
  createAnswerReader,
  createErrorReader,
  type PartEmitter,
  refuseForMemory,
} from './answer-reader.ts';
import type { HttpRequest } from './http1/encode-request.ts';
import type { HttpClient, HttpExchange, HttpHandler, HttpHeaders } from './http1/http-client.ts';
import type { HttpFailure } from './http1/http-failure.ts';
import { type AnswerSource, PartQueue } from './part-queue.ts';
import type { PushedPart } from './pushed-part.ts';
import type { UpstreamDialect } from './upstream-dialect.ts';

interface CallRules {
  /**
   * What an upstream says about a failure may contain our secrets, so none of it is passed on
   * without this mask.
   */
  readonly maskText: MaskText;
  readonly answer: AnswerDeadlines;
  /** For reading the rest of an answer that has reported everything, and what an error says. */
  readonly lingering: DeadlineList<HttpCall>;
  /** The name of the upstream. */
  readonly upstream: string;
  readonly memory: AnswerMemory;
}

/** One call of an upstream. Reads its answer: parts as they come, a whole answer, or an error. */
export class HttpCall implements HttpHandler, AnswerSource, PartEmitter, AnswerHolder {
  readonly parts: PartQueue;
  readonly #signal: StopSignal;
  /** Kept only until the upstream answers, because it holds the request with its body. */
  #call: InferenceCall | undefined;
  readonly #dialect: UpstreamDialect;
  readonly #upstream: string;
  readonly #maskText: MaskText;
  #exchange: HttpExchange | undefined;
  #reader: AnswerReader | undefined;
  readonly #lingering: DeadlineList<HttpCall>;
  #lingerDeadline: Deadline<HttpCall> | undefined;
  readonly #cutOff: () => boolean;
  #hasPaused = false;
  #isOver = false;
  #hasEnded = false;
  #readBytes = 0;
  #isRefused = false;
  readonly #accountId: string;
  readonly #memory: AnswerMemory;
  /** Undefined as long as the answer takes little memory. */
  #growing: GrowingAnswer | undefined;

  constructor(call: InferenceCall, dialect: UpstreamDialect, rules: CallRules) {
    this.#call = call;
    this.#accountId = call.accountId;
    this.#signal = call.signal;
    this.#cutOff = call.cutOff;
    this.#dialect = dialect;
    this.#upstream = rules.upstream;
    this.#maskText = rules.maskText;
    this.#lingering = rules.lingering;
    this.#memory = rules.memory;
    this.parts = new PartQueue(this, rules.answer);
  }

  start(client: HttpClient, request: HttpRequest): void {
    this.#exchange = client.send(request, this);
    this.#signal.addEventListener('abort', this.#onLeft);
  }

  pause(): void {
    this.#hasPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  /** An error is not an answer, and costs nothing. */
  isSent(): boolean {
    return !this.#isRefused && this.#exchange?.isSent === true;
  }

  abort(): void {
    this.#letGo();
    this.#lingering.delete(this.#lingerDeadline);
    this.#exchange?.abort();
  }

  /** An upstream that never had to wait has taken too long by itself. */
  judgeOverdue(): Overdue {
    if (this.#hasPaused && this.#cutOff()) return 'unread';
    return this.#reader === undefined ? 'unbegun' : 'begun';
  }

  /** An answer that lingers has reported all that matters, as has an error with its status. */
  giveUpRest(): void {
    if (this.#isOver) this.#exchange?.abort();
    else this.#readEnd();
  }

  onHead(status: number, headers: HttpHeaders): void {
    const isAnswer = status >= 200 && status <= 299;
    this.#isRefused = !isAnswer;
    this.#reader =
      isAnswer && this.#call !== undefined
        ? this.#createReader(this.#call, headers.get('content-type'))
        : createErrorReader(status, headers);
    this.#call = undefined;
    if (!isAnswer) this.#lingerDeadline = this.#lingering.add(this);
    else if (isEncoded(headers)) this.#break(brokenAnswer('it is compressed'));
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#readBytes = chunk.length;
    try {
      const part = this.#reader?.push(chunk);
      if (part !== undefined) this.emit(part);
    } catch (error) {
      this.#break(error);
    }
  }

  onReadEnd(): void {
    this.parts.flush();
  }

  onEnd(): void {
    this.#hasEnded = true;
    this.#lingering.delete(this.#lingerDeadline);
    if (!this.#isOver) this.#readEnd();
    this.#letGo();
    this.parts.finish();
  }

  onFail(failure: HttpFailure): void {
    this.#lingering.delete(this.#lingerDeadline);
    this.#letGo();
    if (this.#isRefused && !this.#isOver) this.#readEnd();
    else this.parts.fail(explainFailure(failure));
  }

  #readEnd(): void {
    this.#readBytes = 0;
    try {
      const part = this.#reader?.end();
      if (part !== undefined) this.emit(part);
    } catch (error) {
      this.#break(error);
    }
  }

  #createReader(
    { request, requestId, form, model, isUnread, reasoning }: InferenceCall,
    contentType: string | undefined,
  ): AnswerReader {
    const upstream = this.#upstream;
    const isTranslated = this.#dialect.format !== form.format;
    const seal: Sealer | undefined = reasoning && ((thought) => reasoning.seal(upstream, thought));
    return createAnswerReader({
      dialect: this.#dialect,
      isStream: request.isStream,
      contentType,
      form,
      model,
      seal,
      namer: isTranslated ? createAnswerNamer(request, requestId) : undefined,
      isUnread,
      holder: this,
      maskText: this.#maskText,
      emitter: this,
    });
  }

  emit(part: PushedPart): void {
    if (this.#isOver || part.events.at(-1)?.type !== 'finish') {
      this.parts.push(part, this.#readBytes);
      return;
    }
    // Nothing that follows matters, but a connection that is read to its end can be used again.
    this.#isOver = true;
    this.#letGo();
    this.parts.pushLast(part);
    if (this.#hasEnded) return;
    this.#lingerDeadline = this.#lingering.add(this);
  }

  /** The answer makes no sense, or is an error. */
  #break(error: unknown): void {
    this.#isOver = true;
    this.abort();
    this.parts.fail(error instanceof Refusal ? maskRefusal(error, this.#maskText) : error);
  }

  readonly #onLeft = () => {
    this.abort();
    this.parts.fail(this.#signal.reason);
  };

  takeMemory(bytes: number): boolean {
    this.#growing ??= {
      accountId: this.#accountId,
      pause: () => this.#exchange?.pause(),
      resume: () => this.#exchange?.resume(),
      giveUp: () => this.#break(refuseForMemory()),
    };
    return this.#memory.take(this.#growing, bytes);
  }

  giveBackMemory(): void {
    if (this.#growing !== undefined) this.#memory.giveBack(this.#growing);
  }

  /** Nobody can leave the answer any more, and it takes no memory. */
  #letGo(): void {
    this.#signal.removeEventListener('abort', this.#onLeft);
    this.giveBackMemory();
  }
}

/** Every request asks for an answer that is not. */
function isEncoded(headers: HttpHeaders): boolean {
  const encoding = headers.get('content-encoding');
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
}

function maskRefusal(refusal: Refusal, maskText: MaskText): Refusal {
  if (refusal instanceof UpstreamFailure) return refusal;
  const { chatMessage, chatCode, param, reason } = refusal;
  const { headers, nativeDetails, denial, isOversize, reportedUsage } = refusal;
  const masked: Required<RefusalDetails> = {
    ...{ headers, nativeDetails, denial, isOversize, reportedUsage },
    chatMessage: maskText(chatMessage),
    chatCode: chatCode && maskText(chatCode),
    param: param && maskText(param),
    reason: reason && maskText(reason),
  };
  return new Refusal(refusal.refusal, maskText(refusal.message), masked);
}

function explainFailure({ kind, isSafeToRepeat, reason: why }: HttpFailure): UpstreamFailure {
  const reason = `${kind}: ${why}`;
  if (kind === 'connections_exhausted') {
    const refusal = new Refusal('upstream_overloaded', 'Overloaded', { reason });
    return new UpstreamFailure('overloaded', refusal);
  }
  const message = isSafeToRepeat
    ? 'The upstream cannot be reached.'
    : 'The upstream broke off its answer.';
  return new UpstreamFailure(
    isSafeToRepeat ? 'unreachable' : 'broken',
    new Refusal('upstream_broken', message, { reason }),
  );
}
