import { lstatSync } from 'node:fs';
import { checkEndpointFree } from '../../http/check-endpoint-free.ts';
import type { Endpoint } from '../../lib/address/endpoint.ts';
import { formatEndpoint } from '../../lib/address/parse-endpoint.ts';
import { type Finding, failCheck, passCheck } from '../finding.ts';
import { askEndpoint } from './ask-endpoint.ts';

const ANSWER_CHARS_MAX = 65_536;

/** Only a node answers at `livePath`, with its version. */
export async function checkEndpoint(endpoint: Endpoint, livePath: string): Promise<Finding> {
  const place = formatEndpoint(endpoint);
  const answer = await askEndpoint(endpoint, livePath, ANSWER_CHARS_MAX);
  if (answer.kind === 'answer') {
    const version = readVersion(answer.text);
    return version === undefined
      ? refuseTaken(place)
      : passCheck(`${place}, held by a running node (version ${version})`);
  }
  // A socket that does not answer is left by a dead node. The next node takes it over.
  if (endpoint.kind === 'unix') {
    const found = lstatSync(endpoint.path, { throwIfNoEntry: false });
    const isTaken = found !== undefined && (answer.kind === 'silent' || !found.isSocket());
    return isTaken ? refuseTaken(place) : passCheck(`${place} is free`);
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

function readVersion(text: string): string | undefined {
  try {
    const { status, version } = JSON.parse(text) as Record<string, unknown>;
    return typeof status === 'string' && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
