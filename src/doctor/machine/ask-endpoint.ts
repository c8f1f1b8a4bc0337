import { type RequestOptions, request } from 'node:http';
import type { Endpoint } from '../../lib/address/endpoint.ts';

const ANSWER_TIME_MAX_MS = 3_000;

type EndpointAnswer =
  | { readonly kind: 'answer'; readonly text: string }
  /** Nothing listens there. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'silent' };

/** Asks for a path. An answer longer than `charsMax` is cut there. */
export function askEndpoint(
  endpoint: Endpoint,
  path: string,
  charsMax: number,
): Promise<EndpointAnswer> {
  return new Promise((resolve) => {
    const finish = (answer: EndpointAnswer) => {
      clearTimeout(timer);
      resolve(answer);
      asked.destroy();
    };
    const asked = request({ ...placeOf(endpoint), path, agent: false }, (response) => {
      let text = '';
      response.on('data', (data) => {
        text = (text + String(data)).slice(0, charsMax);
      });
      response.on('end', () => finish({ kind: 'answer', text }));
      response.on('error', () => finish({ kind: 'silent' }));
    });
    const timer = setTimeout(() => finish({ kind: 'silent' }), ANSWER_TIME_MAX_MS);
    asked.on('error', ({ code }: NodeJS.ErrnoException) =>
      finish({ kind: code === 'ECONNREFUSED' || code === 'ENOENT' ? 'absent' : 'silent' }),
    );
    asked.end();
  });
}

function placeOf(endpoint: Endpoint): RequestOptions {
  if (endpoint.kind === 'unix') return { socketPath: endpoint.path };
  const isAny = endpoint.host === '0.0.0.0' || endpoint.host === '::';
  return { host: isAny ? 'localhost' : endpoint.host, port: endpoint.port };
}
