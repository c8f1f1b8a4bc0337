import { hideCosts } from '../../../answers/hide-costs.ts';
import { mergeCounts } from '../../../answers/merge-counts.ts';
import type { AnswerContext, Usage } from '../../../inference.ts';
import type { Json } from '../../../json/upstream-json.ts';
import { readObject, readText } from '../../../json/upstream-json.ts';
import { isObject } from '../../../schema.ts';
import type { Sealer } from '../../../sealed-reasoning.ts';
import { encodeUsage } from '../encode-usage.ts';
import { ECHO_CHARS_MAX, limitEcho, responseContextOf, responseIdOf } from '../response-object.ts';
import { mendItem } from './mend-item.ts';

/** What the client gets in place of parts of an upstream's response. */
export interface MendTerms {
  readonly model: string;
  readonly context: AnswerContext;
  readonly seal: Sealer | undefined;
}

/** What these fields say if the upstream leaves them out. */
const STATES: Readonly<Record<string, unknown>> = {
  object: 'response',
  completed_at: null,
  status: 'completed',
  error: null,
  incomplete_details: null,
};

/** Fields that say what the gateway made of the request. Clients read what they asked for. */
const ASKED = ['previous_response_id', 'max_output_tokens', 'instructions', 'background'];

/** Returns the members of a response that replace the upstream's own. */
export function describeResponse({ model, context }: MendTerms): Readonly<Record<string, unknown>> {
  const { echo, requestId } = responseContextOf(context);
  const described: Record<string, unknown> = { id: responseIdOf(requestId), model, store: false };
  for (const name of ASKED) {
    if (Object.hasOwn(echo, name)) described[name] = unlessLong(echo[name]);
  }
  return described;
}

function unlessLong(value: unknown): unknown {
  return typeof value === 'string' && value.length > ECHO_CHARS_MAX ? null : value;
}

/** Returns the members that clients expect, and that this upstream does not know. */
export function fillIn(response: Json, { context }: MendTerms): Readonly<Record<string, unknown>> {
  const { echo } = responseContextOf(context);
  const filled: Record<string, unknown> = {};
  const fill = (fields: Readonly<Record<string, unknown>>) => {
    for (const name in fields) if (!Object.hasOwn(response, name)) filled[name] = fields[name];
  };
  fill(STATES);
  if (!Object.hasOwn(response, 'created_at')) filled['created_at'] = context.createdSeconds;
  if (!Object.keys(echo).every((name) => Object.hasOwn(response, name))) fill(limitEcho(echo));
  return filled;
}

/** Returns a response for the client, with every field that clients expect. */
export function mendResponse(response: Json, terms: MendTerms): Json {
  const { output } = response;
  return {
    ...hideCosts(response),
    ...fillIn(response, terms),
    ...describeResponse(terms),
    ...(Array.isArray(output) && { output: mendOutput(output, terms) }),
  };
}

/** Merges our usage with the upstream's unknown fields. */
export function mendUsage(response: Json, usage: Usage): Json {
  return mergeCounts(readObject(response, 'usage'), encodeUsage(usage));
}

/** Returns the same list if no item of it is changed. */
export function mendOutput(output: readonly unknown[], terms: MendTerms): readonly unknown[] {
  const { requestId } = responseContextOf(terms.context);
  const mended = output.map((item, place) => {
    if (!isObject(item)) return item;
    const whole = mendItem(item, { requestId, place });
    return carriesThought(whole) ? sealItem(whole, terms.seal) : whole;
  });
  return mended.some((item, i) => item !== output[i]) ? mended : output;
}

export function carriesThought(item: unknown): item is Json {
  return isObject(item) && item['type'] === 'reasoning' && item['encrypted_content'] != null;
}

/** Only its upstream can read an encrypted thought, so it goes out with that upstream's name. */
export function sealItem(item: Json, seal: Sealer | undefined): Json {
  const encrypted = readText(item, 'encrypted_content');
  const id = readText(item, 'id');
  const sealed = encrypted === undefined ? undefined : seal?.({ type: 'reasoning', id, encrypted });
  return { ...item, encrypted_content: sealed ?? null };
}
