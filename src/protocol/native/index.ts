import { encodeNativeRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';

export const nativeFormat: Format = {
  name: 'native',
  decodeRequest,
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.status,
  encodeRate: encodeNativeRate,
};
