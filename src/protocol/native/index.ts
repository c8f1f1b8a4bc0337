import type { Abridgment } from '../abridge-json.ts';
import { encodeNativeRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';

const ABRIDGMENT: Abridgment = {
  members: new Set(['messages', 'system', 'tools']),
  wholeNames: new Set(),
};

export const nativeFormat: Format = {
  name: 'native',
  decodeRequest,
  abridgment: ABRIDGMENT,
  canBeAbridged: () => true,
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.status,
  encodeRate: encodeNativeRate,
};
