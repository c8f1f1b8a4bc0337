import {
  answerOf,
  chunkOf,
  errorBody,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  type UpstreamKind,
  wholeBody,
} from './upstream-answers.ts';

/** Contains characters that JSON, HTML and URLs escape differently. */
export const API_KEY = 'sk-"zqkey0123456789\\ab/<&>%41+zqkeyend01234567';
export const TOKEN = "token zqtoken0123456789 'of' zqtokenend012345";
const PASSWORD = 'zqpassword01/+%:&"\\zqpasswordend012';
export const BASIC = Buffer.from(`zquser:${PASSWORD}`).toString('base64');
/** Parts that every encoding leaves unchanged, each long enough to be worth stealing. */
export const TRACES = [
  ...['zqkey0123456789', 'zqkeyend01234567', 'zqtoken0123456789', 'zqtokenend012345'],
  ...['zqpassword01', 'zqpasswordend012', BASIC.slice(0, 16), BASIC.slice(-20, -4)],
];
export const COMPLAINT = 'messages: roles must alternate';

/** The request that the upstream got, in all the ways in which servers echo it. */
export function echo({ head, body }: { readonly head: string; readonly body: string }): string {
  const lines = head.split('\r\n').slice(1);
  // Without the header names: clients never see text about an API key anyway.
  const values = lines.map((line) => line.slice(line.indexOf(':') + 1).trim());
  const basic = values.find((value) => value.startsWith('Basic ')) ?? 'Basic ';
  const got = [...values, Buffer.from(basic.slice(6), 'base64').toString(), body].join('; ');
  const asHtml = got.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  const asGoJson = JSON.stringify(got).replace(
    /[&<>]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  );
  return [COMPLAINT, got, JSON.stringify({ got: JSON.stringify(got) }), asGoJson]
    .concat(encodeURIComponent(got), asHtml, got.replaceAll('/', '\\/'))
    .join('\n');
}

interface Place {
  readonly isStream: boolean;
  /** Whether this tells a client what is wrong with its request. */
  readonly tellsWords?: boolean;
  steps(kind: UpstreamKind, words: string): Iterable<string>;
}

export const complain = (kind: UpstreamKind, words: string) =>
  errorBody(kind, words, 'invalid_request_error');
const streamOf = (...texts: readonly string[]) => [STREAM_HEAD, ...texts.map(chunkOf), LAST_CHUNK];
const event = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;

function withError(kind: UpstreamKind, error: unknown): string {
  return JSON.stringify({
    ...JSON.parse(wholeBody(kind, 'Hello!', { input: 1, output: 1 })),
    error,
  });
}

function errorInChoice(words: string): string {
  const body = JSON.parse(wholeBody('chat', 'Hello!', { input: 1, output: 1 }));
  const error = { code: 400, message: words };
  return JSON.stringify({ ...body, choices: [{ ...body.choices[0], error }] });
}

/** A piece of text in the shape of this kind, with an error beside it. */
function pieceWithError(kind: UpstreamKind, words: string): string {
  const error = { code: 400, type: 'invalid_request_error', message: words };
  const [name = '', data = ''] = streamParts(kind).say('and').split('data: ');
  const fields = JSON.parse(data);
  const piece =
    kind !== 'chat'
      ? { ...fields, error }
      : { ...fields, choices: [{ ...fields.choices[0], error }] };
  return `${name}${event(piece)}`;
}

export const PLACES: Readonly<Record<string, Place>> = {
  'an error of status 400': {
    isStream: false,
    tellsWords: true,
    steps: (kind, words) => [answerOf(400, complain(kind, words))],
  },
  'an error of status 422 in the words of a schema': {
    isStream: false,
    tellsWords: true,
    steps: (_kind, words) => [answerOf(422, JSON.stringify({ detail: [{ msg: words }] }))],
  },
  'an error of status 413 in place of a stream': {
    isStream: true,
    tellsWords: true,
    steps: (kind, words) => [answerOf(413, complain(kind, words))],
  },
  'the field at fault': {
    isStream: false,
    steps: (_kind, words) => [
      answerOf(400, JSON.stringify({ error: { message: COMPLAINT, param: words.slice(0, 190) } })),
    ],
  },
  'an error of status 500': {
    isStream: false,
    steps: (kind, words) => [answerOf(500, complain(kind, words))],
  },
  'an error that is cut where the gateway cuts it': {
    isStream: false,
    steps: (kind) => [answerOf(400, complain(kind, `${'x'.repeat(1_978)}${TOKEN}`))],
  },
  'an error with status 200': {
    isStream: false,
    tellsWords: true,
    steps: (kind, words) => [answerOf(200, complain(kind, words))],
  },
  'an error beside an answer': {
    isStream: false,
    steps: (kind, words) => [answerOf(200, withError(kind, { message: words }))],
  },
  'a text as an error beside an answer': {
    isStream: false,
    steps: (kind, words) => [answerOf(200, withError(kind, words))],
  },
  'a list of errors beside an answer': {
    isStream: false,
    steps: (kind, words) => [answerOf(200, withError(kind, [words]))],
  },
  'an error in the choice of an answer': {
    isStream: false,
    steps: (_kind, words) => [answerOf(200, errorInChoice(words))],
  },
  'an answer that is no JSON': {
    isStream: false,
    steps: (_kind, words) => [answerOf(200, `{"id": ${words}`)],
  },
  'an error that is no JSON': { isStream: false, steps: (_kind, words) => [answerOf(400, words)] },
  'the headers of an answer': {
    isStream: false,
    steps: (kind, words) => {
      const value = encodeURIComponent(words);
      const names = ['x-echo', 'request-id', 'retry-after', 'set-cookie', 'openai-organization'];
      const headers = Object.fromEntries(names.map((name) => [name, value]));
      return [answerOf(200, wholeBody(kind, 'Hello!', undefined), headers)];
    },
  },
  'the headers of an error': {
    isStream: false,
    steps: (kind, words) => [
      answerOf(429, complain(kind, COMPLAINT), { 'retry-after': encodeURIComponent(words) }),
    ],
  },
  'the first event of a stream': {
    isStream: true,
    steps: (kind, words) => streamOf(streamParts(kind).error(400, words)),
  },
  'an error within a stream': {
    isStream: true,
    steps: (kind, words) =>
      streamOf(
        `${streamParts(kind).begin}${streamParts(kind).say('One ')}`,
        `${event(JSON.parse(complain(kind, words)))}`,
      ),
  },
  'an error in pieces of a stream': {
    isStream: true,
    tellsWords: true,
    steps: (kind, words) => [
      STREAM_HEAD,
      chunkOf(`${streamParts(kind).begin}${streamParts(kind).say('One ')}`),
      ...(event(JSON.parse(complain(kind, words))).match(/[\s\S]{1,7}/g) ?? []).map(chunkOf),
      LAST_CHUNK,
    ],
  },
  'an error without a type within a stream': {
    isStream: true,
    tellsWords: true,
    steps: (kind, words) =>
      streamOf(streamParts(kind).begin, event({ error: { code: 400, message: words } })),
  },
  'an error beside a piece of text': {
    isStream: true,
    steps: (kind, words) => {
      const piece = pieceWithError(kind, words);
      return streamOf(
        streamParts(kind).begin,
        piece,
        piece,
        piece,
        streamParts(kind).end(undefined),
      );
    },
  },
  'an event that nobody knows': {
    isStream: true,
    steps: (kind, words) => {
      const { begin, say, end } = streamParts(kind);
      const unknown = `event: warning\n${event({ type: 'warning', text: words })}`;
      return streamOf(begin, say('One '), unknown, end(undefined));
    },
  },
  'a comment within a stream': {
    isStream: true,
    steps: (kind, words) => {
      const { begin, say, end } = streamParts(kind);
      const comment = words
        .split('\n')
        .map((line) => `: ${line}\n`)
        .join('');
      return streamOf(begin, `${comment}\n`, say('One '), end(undefined));
    },
  },
  'a piece of a stream that is no JSON': {
    isStream: true,
    steps: (kind, words) =>
      streamOf(streamParts(kind).begin, `data: {${words.replaceAll('\n', ' ')}\n\n`),
  },
};
