import { readdirSync, readFileSync } from 'node:fs';
import type { InferenceRequest } from '../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import type { UpstreamCall } from '../../../src/protocol/upstream-call.ts';
import { BODY } from './native/request-parts.ts';

/** Requests on their way to an upstream, in a short form. */

type Json = Readonly<Record<string, unknown>>;

const HEADERS: Json = { 'llm-version': '2023-06-01' };

export function decodeNative(body: unknown): InferenceRequest {
  return nativeFormat.decodeRequest(body, (name) => HEADERS[name] as string | undefined).request;
}

export function callOf(body: Json, fields: Partial<UpstreamCall> = {}): UpstreamCall {
  const request = decodeNative({ ...BODY, ...body });
  return { request, outputTokensMax: request.outputTokensMax ?? 0, isStream: false, ...fields };
}

const FIXTURES = new URL('../../fixtures/', import.meta.url);

export function readBodies(format: 'native' | 'chat'): readonly (readonly [string, Json])[] {
  const folder = new URL(`${format}/requests/`, FIXTURES);
  return readdirSync(folder).map((file) => {
    const fixture = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { body: Json };
    return [file, fixture.body] as const;
  });
}
