import { countUtf8Bytes } from '../../lib/bytes/count-utf8-bytes.ts';
import { refuseField } from '../chat/requests/refuse-field.ts';
import { checkFields, isDropped, knowFields } from '../fields/check-fields.ts';
import { FIELD_RULES } from '../fields/field-rules.ts';
import type { DecodedRequest } from '../format.ts';
import type { InferenceRequest } from '../inference.ts';
import { ANSWER_BYTES_MAX } from '../json/upstream-json.ts';
import { Refusal } from '../refusals.ts';
import { namesOf } from '../schema.ts';
import type { EmbeddingForm, EmbeddingInput } from './embedding-input.ts';
import { countBase64Chars } from './float-text.ts';
import { embeddingRequestSchema } from './request-schema.ts';

/** All inputs together, without the rest of the body. */
const TEXT_BYTES_MAX = 8 * 1024 * 1024;
const TOKENS_MAX = 2_000_000;
/** No real text has fewer tokens than its bytes divided by this. */
const BYTES_PER_TOKEN_MAX = 16;
/** The most that models add to each input: marks of its beginning and end, and what it is for. */
const EXTRA_TOKENS_MAX = 16;
/** What an answer has around each embedding, at least. */
const ENTRY_BYTES_MIN = '{"embedding":""},'.length;

export const EMBEDDING_FIELDS = knowFields(namesOf(embeddingRequestSchema), FIELD_RULES);

interface Body {
  readonly model: string;
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  readonly encoding_format?: EmbeddingForm | null;
  readonly dimensions?: number | null;
  readonly user?: string | null;
}

/** A request for embeddings is one without messages and without output. */
export function decodeRequest(body: unknown): DecodedRequest {
  const problem = embeddingRequestSchema.check(body);
  if (problem !== undefined) throw refuseField(problem);
  const asked = body as Body;
  const unknownFields = checkFields({ ...asked }, EMBEDDING_FIELDS, (path, message) => {
    throw refuseField({ path, kind: 'invalid', message });
  });
  const request: InferenceRequest = {
    ...{ model: asked.model, isStream: false, system: undefined, messages: [] },
    ...{ outputTokensMax: 0, temperature: undefined, topP: undefined, topK: undefined },
    ...{ stopSequences: [], tools: [], toolChoice: undefined, thinkingTokensMax: undefined },
    ...{ isThinking: false, outputSchema: undefined, effort: undefined, cacheControl: undefined },
    ...{ isBetaContext: false, betas: [], passedOn: {}, unknownFields, sentUndecoded: [] },
    embeds: readInput(asked, unknownFields),
  };
  return { request, wantsStreamUsage: false };
}

function readInput(asked: Body, unknownFields: readonly string[]): EmbeddingInput {
  const inputs = listInputs(asked.input);
  const fields = listFields(asked);
  // An unknown field may be added to each input.
  const unknown = unknownFields.map((name) => fields[name]);
  const extraTokens =
    EXTRA_TOKENS_MAX + (unknown.length && countUtf8Bytes(JSON.stringify(unknown)));
  let [textBytes, tokens, longestTokens] = [0, 0, 0];
  for (const input of inputs) {
    const bytes = typeof input === 'string' ? countUtf8Bytes(input) : 0;
    const counted = typeof input === 'string' ? 0 : input.length;
    textBytes += bytes;
    tokens += counted;
    longestTokens = Math.max(longestTokens, counted, Math.ceil(bytes / BYTES_PER_TOKEN_MAX));
  }
  if (textBytes > TEXT_BYTES_MAX) throw refuseLong(`${TEXT_BYTES_MAX} bytes`);
  if (tokens > TOKENS_MAX) throw refuseLong(`${TOKENS_MAX} tokens`);
  const encoding = asked.encoding_format ?? 'float';
  const dimensions = asked.dimensions ?? undefined;
  // An unknown field may ask for shorter numbers.
  if (dimensions !== undefined && unknownFields.length === 0) {
    checkAnswerFits(inputs.length, dimensions, encoding);
  }
  return {
    ...{ inputs, fields, textBytes, tokens, longestTokens, encoding, dimensions },
    tokensMax: textBytes + tokens + inputs.length * extraTokens,
  };
}

function listInputs(input: Body['input']): EmbeddingInput['inputs'] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number'
    ? [input as readonly number[]]
    : (input as EmbeddingInput['inputs']);
}

function listFields(asked: Body): EmbeddingInput['fields'] {
  const sent = Object.entries(asked).filter(
    ([name, value]) => name !== 'model' && value !== null && !isDropped(name, EMBEDDING_FIELDS),
  );
  return Object.fromEntries(sent);
}

/**
 * An answer that is too large would be billed by the vendor, and reach nobody. Numbers that are
 * written out have a digit and a comma at least.
 */
function checkAnswerFits(count: number, dimensions: number, encoding: EmbeddingForm): void {
  const vectorBytesMin = encoding === 'base64' ? countBase64Chars(dimensions) : 2 * dimensions - 1;
  if (count * (ENTRY_BYTES_MIN + vectorBytesMin) <= ANSWER_BYTES_MAX) return;
  const message = `Invalid value for 'input': ${count} embeddings of ${dimensions} numbers need more than ${ANSWER_BYTES_MAX} bytes, the most that an answer may have; send the inputs in several requests.`;
  throw new Refusal('invalid_request', message, { param: 'input' });
}

function refuseLong(most: string): Refusal {
  const message = `Invalid value for 'input': all inputs together may have at most ${most}; send them in several requests.`;
  return new Refusal('body_too_large', message, { param: 'input' });
}
