import type { Abridgment } from '../abridge-json.ts';
import { KIND_NAMES } from '../check-fields.ts';
import { encodeNativeRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { listNames } from '../schema.ts';
import { knowNames } from '../unify-names.ts';
import { decodeRequest, NATIVE_FIELDS } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';
import { nativeRequestSchema } from './request-schema.ts';

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
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.status,
  encodeRate: encodeNativeRate,
};
