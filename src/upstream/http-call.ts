import type { InferenceCall } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import { AnswerParts, type AnswerSource, type PushedPart } from './answer-parts.ts';
import type { Deadlines } from './deadlines.ts';
import type {
  HttpClient,
  HttpExchange,
  HttpHandler,
  HttpHeaders,
  HttpRequest,
} from './http1/http-client.ts';
import type { HttpFailure } from './http1/http-failure.ts';
import { type AnswerReader, createAnswerReader, createErrorReader } from './read-answer.ts';
import type { UpstreamDialect } from './upstream-dialect.ts';

/** How long the rest of an answer may take that has told all it had to tell. */
const LINGER_MAX_MS = 1_000;

/**
 * One call of an upstream: reads its answer, parts as they come, a whole one, or an error. A class, because one is
 * made for every request.
 */
export class HttpCall implements HttpHandler, AnswerSource {
  readonly parts: AnswerParts;
  readonly #call: InferenceCall;
  readonly #dialect: UpstreamDialect;
  #exchange: HttpExchange | undefined;
  #reader: AnswerReader | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #isOver = false;
  #hasEnded = false;
  #readBytes = 0;

  constructor(call: InferenceCall, dialect: UpstreamDialect, deadlines: Deadlines) {
    this.#call = call;
    this.#dialect = dialect;
    this.parts = new AnswerParts(this, deadlines);
  }

  start(client: HttpClient, request: HttpRequest): void {
    this.#exchange = client.send(request, this);
    this.#call.signal.addEventListener('abort', this.#onLeft);
  }

  pause(): void {
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  abort(): void {
    this.#stopListening();
    this.#exchange?.abort();
  }

  onHead(status: number, headers: HttpHeaders): void {
    const isAnswer = status >= 200 && status <= 299;
    this.#reader = isAnswer ? this.#createReader() : createErrorReader(status, headers);
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#readBytes = chunk.length;
    try {
      const part = this.#reader?.push(chunk);
      if (part !== undefined) this.#tell(part);
    } catch (error) {
      this.#break(error);
    }
  }

  onEnd(): void {
    this.#hasEnded = true;
    clearTimeout(this.#lingerTimer);
    if (!this.#isOver) this.#readEnd();
    this.#stopListening();
    this.parts.finish();
  }

  onFail(failure: HttpFailure): void {
    clearTimeout(this.#lingerTimer);
    this.#stopListening();
    this.parts.fail(explainFailure(failure));
  }

  #readEnd(): void {
    this.#readBytes = 0;
    try {
      const part = this.#reader?.end();
      if (part !== undefined) this.#tell(part);
    } catch (error) {
      this.#break(error);
    }
  }

  #createReader(): AnswerReader {
    const { request, form, model } = this.#call;
    return createAnswerReader({
      dialect: this.#dialect,
      isStream: request.isStream,
      form,
      model,
      tell: (part) => this.#tell(part),
    });
  }

  #tell(part: PushedPart): void {
    if (this.#isOver || part.events.at(-1)?.type !== 'finish') {
      this.parts.push(part, this.#readBytes);
      return;
    }
    // Nothing of what follows matters, but a connection that is read to its end can be used again.
    this.#isOver = true;
    this.#stopListening();
    this.parts.pushLast(part);
    if (this.#hasEnded) return;
    this.#lingerTimer = setTimeout(() => this.#exchange?.abort(), LINGER_MAX_MS);
  }

  /** What came makes no sense, or is an error. */
  #break(error: unknown): void {
    this.#isOver = true;
    this.abort();
    this.parts.fail(error);
  }

  readonly #onLeft = () => {
    this.#exchange?.abort();
    this.parts.fail(this.#call.signal.reason);
  };

  #stopListening(): void {
    this.#call.signal.removeEventListener('abort', this.#onLeft);
  }
}

function explainFailure({ kind, isSafeToRepeat }: HttpFailure): UpstreamFailure {
  if (kind === 'connections_exhausted') {
    const refusal = new Refusal('upstream_overloaded', 'Overloaded');
    return new UpstreamFailure('overloaded', refusal);
  }
  const message = isSafeToRepeat
    ? 'The upstream cannot be reached.'
    : 'The upstream broke off its answer.';
  return new UpstreamFailure(
    isSafeToRepeat ? 'unreachable' : 'broken',
    new Refusal('upstream_broken', message),
  );
}
