import { encodeChatRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';

/** `POST /v1/chat/completions`: a layer over the native format, for clients that speak nothing else. */
export const chatFormat: Format = {
  name: 'chat',
  decodeRequest,
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.chatStatus,
  encodeRate: encodeChatRate,
};
