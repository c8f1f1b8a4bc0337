import { chatRequestSchema } from './chat/requests/request-schema.ts';
import { embeddingRequestSchema } from './embeddings/request-schema.ts';
import { keyInfoSchema } from './key-info.ts';
import { nativeRequestSchema } from './native/requests/request-schema.ts';
import { REFUSALS } from './refusals.ts';
import { responsesRequestSchema } from './responses/requests/request-schema.ts';
import type { JsonSchema } from './schema.ts';

interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** The same schema that the route checks bodies with. */
  readonly body?: JsonSchema;
  /** The same schema that the answer follows. */
  readonly answer?: JsonSchema;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  readonly needsKey: boolean;
  readonly mediaTypes: readonly string[];
}

const JSON_ONLY = ['application/json'];
const JSON_OR_STREAM = ['application/json', 'text/event-stream'];

const VERSION_HEADER = {
  name: 'llm-version',
  in: 'header',
  required: true,
  description: '`anthropic-version` does as well.',
  schema: { type: 'string', enum: ['2023-06-01', '2026-10-21'] },
};

const RESPONSE_ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

/** The operations that belong to the Responses format. */
const KEPT_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/responses/input_tokens',
    summary: 'Count the tokens of a request without sending it',
    body: responsesRequestSchema.json,
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  ...(
    [
      ['get', '/v1/responses/{id}', 'An answer that is kept'],
      ['delete', '/v1/responses/{id}', 'Take it away'],
      ['get', '/v1/responses/{id}/input_items', 'What it was asked'],
      ['post', '/v1/responses/{id}/cancel', 'No answer can be cancelled'],
    ] as const
  ).map(([method, path, summary]) => {
    const parameters = [RESPONSE_ID];
    return { method, path, summary, parameters, needsKey: true, mediaTypes: JSON_ONLY };
  }),
];

const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/messages',
    summary: 'Send a message, native format',
    body: nativeRequestSchema.json,
    parameters: [VERSION_HEADER],
    needsKey: true,
    mediaTypes: JSON_OR_STREAM,
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    summary: 'Count the tokens of a message without sending it',
    body: { ...nativeRequestSchema.json, required: ['model', 'messages'] },
    parameters: [VERSION_HEADER],
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  {
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Send a message, chat completions format',
    body: chatRequestSchema.json,
    needsKey: true,
    mediaTypes: JSON_OR_STREAM,
  },
  {
    method: 'post',
    path: '/v1/embeddings',
    summary: 'Make embeddings of texts or tokens',
    body: embeddingRequestSchema.json,
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  {
    method: 'post',
    path: '/v1/responses',
    summary: 'Send a message, Responses format',
    body: responsesRequestSchema.json,
    needsKey: true,
    mediaTypes: JSON_OR_STREAM,
  },
  ...KEPT_OPERATIONS,
  {
    method: 'get',
    path: '/v1/models',
    summary: 'List models and aliases',
    parameters: [
      { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1_000 } },
      { name: 'after_id', in: 'query', schema: { type: 'string' } },
      { name: 'before_id', in: 'query', schema: { type: 'string' } },
    ],
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  {
    method: 'get',
    path: '/v1/models/info',
    summary: 'Models with their prices',
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  {
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One model or alias',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  {
    method: 'get',
    path: '/v1/key',
    summary: 'The key itself: its limits, what is left of them, what it spent',
    answer: keyInfoSchema.json,
    needsKey: true,
    mediaTypes: JSON_ONLY,
  },
  { method: 'get', path: '/healthz', summary: 'Liveness', needsKey: false, mediaTypes: JSON_ONLY },
  { method: 'get', path: '/health', summary: 'Readiness', needsKey: false, mediaTypes: JSON_ONLY },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This document',
    needsKey: false,
    mediaTypes: JSON_ONLY,
  },
];

/** The client routes as OpenAPI 3.1. */
export function createOpenApiDocument(version: string): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Tollgate', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { Error: createErrorSchema() },
    },
  };
}

function describe(operation: Operation): Readonly<Record<string, unknown>> {
  const { summary, parameters, body, answer, needsKey, mediaTypes } = operation;
  return {
    summary,
    ...(parameters !== undefined && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    security: needsKey ? [{ apiKey: [] }, { bearer: [] }] : [],
    responses: {
      '200': {
        description: 'OK',
        content: Object.fromEntries(
          mediaTypes.map((type) => [type, answer === undefined ? {} : { schema: answer }]),
        ),
      },
      default: {
        description: 'A refusal',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function createErrorSchema(): JsonSchema {
  const kinds = Object.values(REFUSALS);
  return {
    type: 'object',
    properties: {
      type: { const: 'error' },
      error: {
        type: 'object',
        properties: {
          type: { enum: [...new Set(kinds.flatMap((kind) => [kind.nativeType, kind.chatType]))] },
          message: { type: 'string' },
          param: { type: ['string', 'null'] },
          code: { enum: [...new Set(kinds.map((kind) => kind.chatCode))] },
        },
        required: ['type', 'message'],
      },
      request_id: { type: 'string' },
    },
    required: ['error'],
  };
}
