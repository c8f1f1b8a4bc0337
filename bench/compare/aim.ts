import type { Case, Running, UpstreamAnswer } from './scenario.ts';

/** Where a generator sends its requests, and what it sends. */
export interface Aim {
  /** A folder for the generator's own files. */
  readonly dir: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly keysFile: string | undefined;
  /** Every good answer contains `marker` this many times. */
  readonly marks: number;
}

/**
 * Each event of the upstream begins with this text, which occurs nowhere else, so it counts events.
 */
export const MARK = '@';

const FILLER = 'Tell me about Riga,\nits markets and its bridges. ';

/** Undefined if the contestant does not serve the format. */
export function aimAt(
  running: Running,
  { format, bodyBytes, status, isKept = false }: Case,
  answer: UpstreamAnswer,
  dir: string,
): Aim | undefined {
  const route = running.routeOf(format);
  if (route === undefined) return undefined;
  return {
    dir,
    port: running.port,
    path: route.path,
    headers: { 'content-type': 'application/json', ...route.headers },
    body: encodeBody(format, bodyBytes, {
      ...{ model: route.model, stream: answer.events > 0 },
      ...(format === 'responses' && { store: isKept }),
    }),
    status,
    keysFile: running.keysFile,
    marks: status === 200 ? Math.max(answer.events, 1) : 0,
  };
}

function encodeBody(format: Case['format'], bytes: number, fields: object): string {
  const asking = (content: string) =>
    format === 'responses'
      ? { max_output_tokens: 256, input: [{ role: 'user', content }] }
      : { max_tokens: 256, messages: [{ role: 'user', content }] };
  const bodyWith = (content: string) => JSON.stringify({ ...fields, ...asking(content) });
  const left = Math.max(bytes - bodyWith('').length, 1);
  // An escaped line feed takes two bytes of the body.
  const repeats = Math.ceil(left / (JSON.stringify(FILLER).length - 2));
  return bodyWith(
    FILLER.repeat(repeats).slice(0, Math.floor((left * FILLER.length) / (FILLER.length + 1))),
  );
}
