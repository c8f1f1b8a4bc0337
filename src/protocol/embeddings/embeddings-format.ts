import { chatFormat } from '../chat/chat-format.ts';
import type { RouteFormat } from '../format.ts';
import type { Abridgment } from '../json/abridge-json.ts';
import { knowNames } from '../json/unify-names.ts';
import { listNames } from '../schema.ts';
import { decodeRequest, EMBEDDING_FIELDS } from './decode-request.ts';
import { embeddingRequestSchema } from './request-schema.ts';

/** Each text is embedded, so each is read. */
const ABRIDGMENT: Abridgment = { members: new Set(), wholeNames: new Set() };

/**
 * `POST /v1/embeddings`, for clients of the chat format. Upstreams answer at once and without
 * output; `relay-answer.ts` writes what the client reads.
 */
export const embeddingsFormat: RouteFormat = {
  name: 'embeddings',
  decodeRequest,
  knownNames: knowNames([...listNames(embeddingRequestSchema), ...EMBEDDING_FIELDS.keys()]),
  abridgment: ABRIDGMENT,
  canBeAbridged: () => false,
  encodeAnswer: chatFormat.encodeAnswer,
  createStreamEncoder: chatFormat.createStreamEncoder,
  encodeRefusal: chatFormat.encodeRefusal,
  statusOf: chatFormat.statusOf,
  encodeRate: chatFormat.encodeRate,
};
