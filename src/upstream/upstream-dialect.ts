import { decodeChatAnswer, readChatUsage } from '../protocol/chat/answers/decode-answer.ts';
import { createStreamDecoder as createChatStreamDecoder } from '../protocol/chat/answers/decode-stream.ts';
import { relayChatAnswer } from '../protocol/chat/answers/relay-answer.ts';
import { createChatRelay } from '../protocol/chat/answers/relay-stream.ts';
import {
  chooseOutputLimitField,
  encodeChatRequest,
  type OutputLimitField,
} from '../protocol/chat/requests/encode-request.ts';
import { spliceChatRequest } from '../protocol/chat/requests/splice-request.ts';
import type { EmbeddingInput } from '../protocol/embeddings/embedding-input.ts';
import { encodeEmbeddingRequest } from '../protocol/embeddings/encode-request.ts';
import { readEmbeddingUsage, relayEmbeddings } from '../protocol/embeddings/relay-answer.ts';
import type { FormatName, RouteName } from '../protocol/format-names.ts';
import type {
  AnswerContext,
  InferenceCall,
  InferenceEvent,
  RequestOutline,
  Usage,
} from '../protocol/inference.ts';
import { brokenAnswer, type Json } from '../protocol/json/upstream-json.ts';
import {
  decodeNativeAnswer,
  readNativeUsage,
  relayNativeAnswer,
} from '../protocol/native/answers/decode-answer.ts';
import { createStreamDecoder as createNativeStreamDecoder } from '../protocol/native/answers/decode-stream.ts';
import { createNativeRelay } from '../protocol/native/answers/relay-stream.ts';
import { encodeNativeHeaders } from '../protocol/native/requests/encode-headers.ts';
import { encodeNativeRequest } from '../protocol/native/requests/encode-request.ts';
import { spliceNativeRequest } from '../protocol/native/requests/splice-request.ts';
import {
  decodeResponsesAnswer,
  readResponsesUsage,
  USAGE_MEMBERS,
} from '../protocol/responses/answers/decode-answer.ts';
import { createStreamDecoder as createResponsesStreamDecoder } from '../protocol/responses/answers/decode-stream.ts';
import { relayResponsesAnswer } from '../protocol/responses/answers/relay-answer.ts';
import { createResponsesRelay } from '../protocol/responses/answers/relay-stream.ts';
import { encodeResponsesRequest } from '../protocol/responses/requests/encode-request.ts';
import { spliceResponsesRequest } from '../protocol/responses/requests/splice-request.ts';
import type { Sealer } from '../protocol/sealed-reasoning.ts';
import type { MaskText } from '../protocol/sse/mask-frame.ts';
import type { RelayedAnswer } from '../protocol/sse/relayed-answer.ts';
import type { StreamDecoder } from '../protocol/sse/stream-decoder.ts';
import type { StreamRelay } from '../protocol/sse/stream-relay.ts';
import type { UpstreamCall, UpstreamCallOutline } from '../protocol/upstream-call.ts';
import { hideEndUser } from './hide-end-user.ts';

type EncoderInput = UpstreamCallOutline & Pick<InferenceCall, 'readWhole'>;

type BetaFields = Pick<RequestOutline, 'isBetaContext' | 'betas'>;

/** What an answer for a client of the upstream's own format needs to know. */
export interface RelayTerms {
  /** The pinned id. It replaces the upstream's own name for the model. */
  readonly model: string;
  readonly context: AnswerContext;
  readonly seal: Sealer | undefined;
}

/** How to speak to one kind of upstream: everything in which the kinds differ. */
export interface UpstreamDialect {
  /** The format that it reads and writes. Its answers are relayed to clients of the same format. */
  readonly format: RouteName;
  /** Follows the upstream's address. */
  readonly path: string;
  encodeRequest(
    call: EncoderInput,
    vendorModel: string,
    outputLimitField: OutputLimitField | undefined,
  ): string | readonly Uint8Array[];
  /** Name, value, name, value, … */
  encodeHeaders(betas: BetaFields, apiKey: string | undefined): readonly string[];
  /** The same for a probe that asks whether the upstream is there. */
  encodeProbeHeaders(apiKey: string | undefined): readonly string[];
  /** Thoughts that only their upstream can read are sealed, if they can be. */
  createStreamDecoder(seal: Sealer | undefined): StreamDecoder;
  decodeAnswer(body: string, seal: Sealer | undefined): readonly InferenceEvent[];
  createStreamRelay(terms: RelayTerms, maskText: MaskText): StreamRelay;
  relayAnswer(body: Buffer, terms: RelayTerms): RelayedAnswer;
  /** The members of a whole answer that `readUsage` needs. */
  readonly usageMembers: readonly string[];
  /** The member that every whole answer has, and no error. */
  readonly contentMember: string;
  /** `undefined` if the answer reports no usage. Throws if the answer is an error. */
  readUsage(answer: Json): Usage | undefined;
}

export function dialectOf(kind: FormatName): UpstreamDialect {
  return DIALECTS[kind];
}

/** Upstreams that speak the chat format have embeddings beside it. */
export const EMBEDDINGS_DIALECT: UpstreamDialect = {
  format: 'embeddings',
  path: '/embeddings',
  encodeRequest({ request, dropsUnknown = false }, vendorModel) {
    const { unknownFields } = request;
    return encodeEmbeddingRequest(embedsOf(request), vendorModel, { unknownFields, dropsUnknown });
  },
  encodeHeaders: (_betas, apiKey) => encodeBearer(apiKey),
  encodeProbeHeaders: encodeBearer,
  createStreamDecoder: refuseStream,
  decodeAnswer: () => refuseStream(),
  createStreamRelay: refuseStream,
  relayAnswer: (body, { model, context }) =>
    relayEmbeddings(body.toString('utf8'), model, embedsOf(context)),
  usageMembers: ['error', 'usage'],
  contentMember: 'data',
  readUsage: readEmbeddingUsage,
};

function embedsOf({ embeds }: Pick<RequestOutline, 'embeds'>): EmbeddingInput {
  if (embeds === undefined) throw new Error('the request asks for no embeddings');
  return embeds;
}

function refuseStream(): never {
  throw brokenAnswer('it is a stream');
}

export const NATIVE_DIALECT: UpstreamDialect = {
  format: 'native',
  path: '/messages',
  encodeRequest: (call, vendorModel) =>
    spliceNativeRequest(call, vendorModel) ??
    encodeNativeRequest(hideEndUser(wholeOf(call)), vendorModel),
  encodeHeaders: (betas, apiKey) => [
    ...(apiKey === undefined ? [] : ['x-api-key', apiKey]),
    ...encodeNativeHeaders(betas).flat(),
  ],
  encodeProbeHeaders: (apiKey) => [
    ...(apiKey === undefined ? [] : ['x-api-key', apiKey]),
    ...encodeNativeHeaders({ isBetaContext: false, betas: [] }).flat(),
  ],
  createStreamDecoder: createNativeStreamDecoder,
  decodeAnswer: decodeNativeAnswer,
  createStreamRelay: ({ model }, maskText) => createNativeRelay(model, maskText),
  relayAnswer: (body, { model }) => relayNativeAnswer(body, model),
  usageMembers: ['type', 'error', 'usage'],
  contentMember: 'content',
  readUsage: readNativeUsage,
};

export const CHAT_DIALECT: UpstreamDialect = {
  format: 'chat',
  path: '/chat/completions',
  encodeRequest(call, vendorModel, outputLimitField) {
    const field = chooseOutputLimitField(call, outputLimitField);
    return (
      spliceChatRequest(call, vendorModel, field) ??
      encodeChatRequest(wholeOf(call), vendorModel, field)
    );
  },
  encodeHeaders: (_betas, apiKey) => encodeBearer(apiKey),
  encodeProbeHeaders: encodeBearer,
  createStreamDecoder: createChatStreamDecoder,
  decodeAnswer: decodeChatAnswer,
  createStreamRelay: ({ model, context }, maskText) => createChatRelay(model, context, maskText),
  relayAnswer: (body, { model, context }) => relayChatAnswer(body, model, context),
  usageMembers: ['error', 'usage'],
  contentMember: 'choices',
  readUsage: readChatUsage,
};

const RESPONSES_DIALECT: UpstreamDialect = {
  format: 'responses',
  path: '/responses',
  encodeRequest: (call, vendorModel) =>
    spliceResponsesRequest(call, vendorModel) ?? encodeResponsesRequest(wholeOf(call), vendorModel),
  encodeHeaders: (_betas, apiKey) => encodeBearer(apiKey),
  encodeProbeHeaders: encodeBearer,
  createStreamDecoder: createResponsesStreamDecoder,
  decodeAnswer: decodeResponsesAnswer,
  createStreamRelay: createResponsesRelay,
  relayAnswer: relayResponsesAnswer,
  usageMembers: USAGE_MEMBERS,
  contentMember: 'output',
  readUsage: readResponsesUsage,
};

const DIALECTS = {
  native: NATIVE_DIALECT,
  chat: CHAT_DIALECT,
  responses: RESPONSES_DIALECT,
} as const satisfies Record<FormatName, UpstreamDialect>;

/** The call with its whole request, to be re-encoded. */
function wholeOf(call: EncoderInput): UpstreamCall {
  return { ...call, request: call.readWhole() };
}

function encodeBearer(apiKey: string | undefined): readonly string[] {
  return apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`];
}
