/** The fields that contain pieces of text, in events and in whole answers of all formats. */
interface Payload {
  readonly type?: unknown;
  readonly delta?: { readonly text?: unknown } | string | null;
  readonly content?: readonly { readonly text?: unknown }[] | null;
  readonly output?: readonly { readonly content?: Payload['content'] }[] | null;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown } | null;
    readonly message?: { readonly content?: unknown } | null;
  }[];
}

/** Far above the size of any event; anything longer is left out. */
const LINE_CHARS_MAX = 4 * 1024 * 1024;

/** Returns a function that takes an answer as it comes and returns the model's text so far. */
export function createTextCollector(isStream: boolean): (chunk: string) => string {
  let text = '';
  let rest = '';
  return (chunk) => {
    rest += chunk;
    if (isStream) {
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data:')) text += readText(line.slice('data:'.length));
      }
    } else {
      // A whole answer cannot be parsed before its end.
      text = readText(rest);
    }
    if (rest.length > LINE_CHARS_MAX) rest = '';
    return text;
  };
}

/** Returns an empty text if the JSON is not an answer of a model. */
function readText(json: string): string {
  try {
    return joinPieces(JSON.parse(json) as Payload | null);
  } catch {
    return '';
  }
}

function joinPieces(payload: Payload | null): string {
  const [choice] = payload?.choices ?? [];
  const pieces = [
    readDelta(payload),
    choice?.delta?.content,
    choice?.message?.content,
    ...(payload?.content ?? []).map(({ text }) => text),
    ...(payload?.output ?? []).flatMap(({ content }) => content ?? []).map(({ text }) => text),
  ];
  return pieces.filter((piece) => typeof piece === 'string').join('');
}

/** Responses also has deltas of thinking and of calls. */
function readDelta(payload: Payload | null): unknown {
  const delta = payload?.delta;
  if (typeof delta !== 'string') return delta?.text;
  return payload?.type === 'response.output_text.delta' ? delta : undefined;
}
