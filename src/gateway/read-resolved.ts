import type { ApiKey } from '../protocol/admission.ts';
import type { HeaderSource, RouteFormat } from '../protocol/format.ts';
import { parseJsonBody } from '../protocol/json/parse-json-body.ts';
import { Refusal } from '../protocol/refusals.ts';
import { isObject } from '../protocol/schema.ts';
import { keepSealed } from '../protocol/sealed-reasoning.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import { type ClientRequest, readRequest } from './read-request.ts';
import type { Steps } from './steps.ts';

interface ResolveOrder {
  readonly body: Uint8Array;
  readonly format: RouteFormat;
  readonly header: HeaderSource;
  readonly steps: Pick<Steps, 'answerKeeper' | 'upstreamFormats'>;
  readonly key: ApiKey;
}

const AIDS = { openThought: keepSealed };
const UNRESOLVED: ReadonlySet<string> = new Set(['item_not_found', 'previous_response_not_found']);

/**
 * Reads a request. If it refers to earlier answers, these are read and put in place of the
 * references. Most requests refer to nothing, and the store is not asked: only a request that
 * would be refused for its references is read a second time.
 */
export function readResolved(order: ResolveOrder): ClientRequest | Promise<ClientRequest> {
  const { body, format, header, steps } = order;
  try {
    const mayAbridge = steps.upstreamFormats.has(format.name);
    return readRequest(body, format, header, mayAbridge, AIDS);
  } catch (error) {
    const isUnresolved = error instanceof Refusal && UNRESOLVED.has(error.refusal);
    if (!isUnresolved || steps.answerKeeper === undefined) throw error;
    return resolve(order, steps.answerKeeper, error);
  }
}

async function resolve(
  { body, format, header, key }: ResolveOrder,
  answerKeeper: AnswerKeeper,
  refusal: Refusal,
): Promise<ClientRequest> {
  const value = parseJsonBody(body);
  const references = format.keepRules?.findReferences(value);
  if (format.keepRules === undefined || references === undefined || !isObject(value)) throw refusal;
  const recalled = await answerKeeper.recall(key, references, body.length);
  const resolved = format.keepRules.resolveReferences(value, recalled);
  const bytes = Buffer.from(JSON.stringify(resolved));
  const asked = readRequest(bytes, format, header, false, { ...AIDS, isResolved: true });
  // What is kept of this request is what it brought itself.
  return {
    ...asked,
    hasRecalled: true,
    newItems: asked.newItems?.slice(recalled.history?.length ?? 0),
  };
}
