import { KIND_NAMES } from '../fields/check-fields.ts';
import type { Format } from '../format.ts';
import type { Abridgment } from '../json/abridge-json.ts';
import { knowNames } from '../json/unify-names.ts';
import { encodeNativeRate } from '../rates/encode-rate.ts';
import { listNames } from '../schema.ts';
import { encodeAnswer } from './answers/encode-answer.ts';
import { createStreamEncoder } from './answers/encode-stream.ts';
import { holdBlankTexts } from './answers/hold-blank-texts.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { decodeRequest, NATIVE_FIELDS } from './requests/decode-request.ts';
import { nativeRequestSchema } from './requests/request-schema.ts';

const ABRIDGMENT: Abridgment = {
  members: new Set(['messages', 'system', 'tools']),
  wholeNames: new Set(),
};

export const nativeFormat: Format = {
  name: 'native',
  decodeRequest,
  knownNames: knowNames([
    ...listNames(nativeRequestSchema),
    ...NATIVE_FIELDS.keys(),
    ...KIND_NAMES,
  ]),
  abridgment: ABRIDGMENT,
  canBeAbridged: () => true,
  encodeAnswer,
  createStreamEncoder: () => holdBlankTexts(createStreamEncoder()),
  encodeRefusal,
  statusOf: (refusal) => refusal.status,
  encodeRate: encodeNativeRate,
};
