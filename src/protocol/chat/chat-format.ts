import { KIND_NAMES } from '../fields/check-fields.ts';
import type { Format } from '../format.ts';
import type { Abridgment } from '../json/abridge-json.ts';
import { knowNames } from '../json/unify-names.ts';
import { encodeChatRate } from '../rates/encode-rate.ts';
import { listNames } from '../schema.ts';
import { encodeAnswer } from './answers/encode-answer.ts';
import { createStreamEncoder } from './answers/encode-stream.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { areTexts } from './requests/are-texts.ts';
import { CHAT_FIELDS, decodeRequest } from './requests/decode-request.ts';
import { chatRequestSchema } from './requests/request-schema.ts';

/** A message with one of these names contains more than texts, so its body is read whole. */
const ABRIDGMENT: Abridgment = {
  members: new Set(['messages']),
  wholeNames: new Set(['tool_calls', 'tool_call_id', 'image_url', 'file']),
};

/**
 * `POST /v1/chat/completions`: a layer over the native format, for clients that know only this one.
 */
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
