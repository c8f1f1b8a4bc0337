import { existsSync } from 'node:fs';
import { type RequestOptions, request } from 'node:http';
import { checkEndpointFree } from '../../cluster/check-endpoint-free.ts';
import type { Endpoint } from '../../lib/endpoint.ts';
import { formatEndpoint } from '../../lib/parse-endpoint.ts';
import { type Finding, failCheck, passCheck } from '../finding.ts';

const ANSWER_TIME_MAX_MS = 3_000;
const ANSWER_BYTES_MAX = 65_536;

/** `livePath` is what only a node answers there, with its version. */
export async function checkEndpoint(endpoint: Endpoint, livePath: string): Promise<Finding> {
  const place = formatEndpoint(endpoint);
  const answer = await askEndpoint(endpoint, livePath);
  if (answer.kind === 'answer') {
    const version = readVersion(answer.text);
    return version === undefined
      ? refuseTaken(place)
      : passCheck(`${place}, held by a running node (version ${version})`);
  }
  // A socket that nobody answers is left by a dead node; the next one takes it over.
  if (endpoint.kind === 'unix') {
    return answer.kind === 'silent' && existsSync(endpoint.path)
      ? refuseTaken(place)
      : passCheck(`${place} is free`);
  }
  try {
    await checkEndpointFree(endpoint);
    return passCheck(`${place} is free`);
  } catch (error) {
    const { message, cause } = error as Error;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'EADDRINUSE'
      ? refuseTaken(place)
      : failCheck(message, 'Choose an address of this machine and a port that the user may take.');
  }
}

function refuseTaken(place: string): Finding {
  return failCheck(
    `${place} is held by another program`,
    'End that program, or choose another address.',
  );
}

type EndpointAnswer =
  | { readonly kind: 'answer'; readonly text: string }
  /** Nobody listens there. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'silent' };

function askEndpoint(endpoint: Endpoint, path: string): Promise<EndpointAnswer> {
  return new Promise((resolve) => {
    const finish = (answer: EndpointAnswer) => {
      clearTimeout(timer);
      resolve(answer);
      asked.destroy();
    };
    const asked = request({ ...placeOf(endpoint), path, agent: false }, (response) => {
      let text = '';
      response.on('data', (data) => {
        text = (text + String(data)).slice(0, ANSWER_BYTES_MAX);
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

function readVersion(text: string): string | undefined {
  try {
    const { status, version } = JSON.parse(text) as Record<string, unknown>;
    return typeof status === 'string' && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
