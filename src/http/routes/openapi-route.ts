import { createOpenApiDocument } from '../../protocol/create-openapi-document.ts';
import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import type { HttpRoute } from './route-table.ts';

const TIME_MAX_MS = 10_000;

export function createOpenApiRoute(version: string): HttpRoute {
  const document = JSON.stringify(createOpenApiDocument(version));
  return {
    method: 'GET',
    path: '/openapi.json',
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    handle(exchange) {
      exchange.answer({ status: 200, headers: { 'content-type': 'application/json' } }, document);
    },
  };
}
