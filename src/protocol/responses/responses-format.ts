import { KIND_NAMES } from '../fields/check-fields.ts';
import type { Format } from '../format.ts';
import type { Abridgment } from '../json/abridge-json.ts';
import { FREE_FORMS, knowNames } from '../json/unify-names.ts';
import { listNames } from '../schema.ts';
import { describeAnswer, encodeAnswer } from './answers/encode-answer.ts';
import { createStreamEncoder } from './answers/encode-stream.ts';
import { encodeResponsesRate } from './encode-rate.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { findReferences, resolveReferences } from './references.ts';
import { areTexts } from './requests/are-texts.ts';
import { decodeRequest, RESPONSES_FIELDS } from './requests/decode-request.ts';
import { responsesRequestSchema } from './requests/request-schema.ts';
import { statusOf } from './status-of.ts';

/** An input with one of these names contains more than texts, so its body is read whole. */
const ABRIDGMENT: Abridgment = {
  members: new Set(['input']),
  wholeNames: new Set([
    ...['arguments', 'input', 'image_url', 'file_data', 'file_url', 'encrypted_content', 'tools'],
  ]),
};

/** `POST /v1/responses`: items instead of messages. */
export const responsesFormat: Format = {
  name: 'responses',
  decodeRequest,
  knownNames: knowNames(
    [...listNames(responsesRequestSchema), ...RESPONSES_FIELDS.keys(), ...KIND_NAMES],
    FREE_FORMS.filter((name) => name !== 'input'),
  ),
  abridgment: ABRIDGMENT,
  canBeAbridged: areTexts,
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf,
  encodeRate: encodeResponsesRate,
  keepRules: { findReferences, resolveReferences, describeAnswer },
};
