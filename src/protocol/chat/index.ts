import type { Abridgment } from '../abridge-json.ts';
import { KIND_NAMES } from '../check-fields.ts';
import { encodeChatRate } from '../encode-rate.ts';
import type { Format } from '../format.ts';
import { listNames } from '../schema.ts';
import { knowNames } from '../unify-names.ts';
import { areTexts } from './are-texts.ts';
import { CHAT_FIELDS, decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { createStreamEncoder } from './encode-stream.ts';
import { chatRequestSchema } from './request-schema.ts';

/** Messages with these are read whole: there is more in them than texts. */
const ABRIDGMENT: Abridgment = {
  members: new Set(['messages']),
  wholeNames: new Set(['tool_calls', 'tool_call_id', 'image_url', 'file']),
};

/** `POST /v1/chat/completions`: a layer over the native format, for clients that speak nothing else. */
export const chatFormat: Format = {
  name: 'chat',
  decodeRequest,
  knownNames: knowNames([...listNames(chatRequestSchema), ...CHAT_FIELDS.keys(), ...KIND_NAMES]),
  abridgment: ABRIDGMENT,
  canBeAbridged: (body) => areTexts(body['messages']),
  encodeAnswer,
  createStreamEncoder,
  encodeRefusal,
  statusOf: (refusal) => refusal.chatStatus,
  encodeRate: encodeChatRate,
};
