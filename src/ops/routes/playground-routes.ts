import { z } from 'zod';
import { FORMAT_NAMES, FORMAT_PATHS } from '../../protocol/format-names.ts';
import { type ApiPlace, type ApiRequest, relayToApi } from '../relay-to-api.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

const KEY_CHARS_MAX = 200;
const VERSION = '2023-06-01';

const keyError = `must be 1 to ${KEY_CHARS_MAX} visible characters of ASCII`;

/** Mistakes in the key or in the model's request are left for the API to report. */
const playgroundBody = z.strictObject({
  format: z.enum(FORMAT_NAMES, { error: `must be one of ${FORMAT_NAMES.join(', ')}` }),
  key: z
    .string({ error: keyError })
    .regex(/^[!-~]+$/, { error: keyError })
    .max(KEY_CHARS_MAX, {
      error: keyError,
    }),
  body: z.string({ error: 'must be text, which is sent as it is' }),
});

type PlaygroundBody = z.infer<typeof playgroundBody>;

export interface PlaygroundRoutesOptions {
  /** Where the workers of this node listen, by the settings in use. */
  readonly readApiPlace: () => ApiPlace;
}

/**
 * The dashboard may only talk to its own origin, so its requests to the API go through this route.
 */
export function createPlaygroundRoutes({
  readApiPlace,
}: PlaygroundRoutesOptions): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/playground',
      role: 'operator',
      summary: 'Ask a model through the API of this node; its answer comes back as it is',
      body: playgroundBody,
      answer: '*/*',
      async handle({ body }) {
        return {
          stream: (response) => relayToApi(readApiPlace(), toApiRequest(body), response),
        };
      },
    }),
  ];
}

function toApiRequest({ format, key, body }: PlaygroundBody): ApiRequest {
  const headers =
    format === 'native'
      ? { 'x-api-key': key, 'llm-version': VERSION }
      : { authorization: `Bearer ${key}` };
  return { path: FORMAT_PATHS[format], headers, body };
}
