import { modelName } from '../fields/call-texts.ts';
import {
  integer,
  list,
  nullable,
  object,
  oneOf,
  type Schema,
  type SchemaProblem,
  text,
} from '../schema.ts';

/** As many as client libraries put into one request. */
const INPUTS_MAX = 2_048;
const DIMENSIONS_MAX = 65_536;

const texts = list(text({ charsMin: 1 }), { itemsMin: 1, itemsMax: INPUTS_MAX });
const tokens = list(integer({ min: 0 }), { itemsMin: 1 });
const tokenLists = list(tokens, { itemsMin: 1, itemsMax: INPUTS_MAX });
const oneText = text({ charsMin: 1 });

/** The first item of a list says what all of them are. */
const input: Schema = {
  json: { anyOf: [oneText.json, texts.json, tokens.json, tokenLists.json] },
  check(value): SchemaProblem | undefined {
    if (!Array.isArray(value)) return oneText.check(value);
    const [first] = value;
    if (typeof first === 'number') return tokens.check(value);
    return (Array.isArray(first) ? tokenLists : texts).check(value);
  },
};

export const embeddingRequestSchema = object(
  { model: modelName, input },
  {
    encoding_format: nullable(oneOf('float', 'base64')),
    dimensions: nullable(integer({ min: 1, max: DIMENSIONS_MAX })),
    user: nullable(text()),
  },
);
