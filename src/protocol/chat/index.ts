import type { Abridgment } from '../abridge-json.ts';
import { encodeChatRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';
import { areTexts } from './splice-request.ts';

/** What is said of tools is written anew, from all of its members; so are messages with these. */
const ABRIDGMENT: Abridgment = {
  members: new Set(['messages']),
  wholeNames: new Set(['tool_calls', 'tool_call_id', 'image_url']),
};

/** `POST /v1/chat/completions`: a layer over the native format, for clients that speak nothing else. */
export const chatFormat: Format = {
  name: 'chat',
  decodeRequest,
  abridgment: ABRIDGMENT,
  canBeAbridged: (body) => areTexts(body['messages']),
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.chatStatus,
  encodeRate: encodeChatRate,
};
