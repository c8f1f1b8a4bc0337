type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** How a JSON reader treats names: which of two equal names counts, and whether case matters. */
interface Reader {
  readonly counts: 'first' | 'last';
  readonly mindsCase: boolean;
}

const READERS: readonly Reader[] = [
  { counts: 'last', mindsCase: true },
  { counts: 'first', mindsCase: true },
  { counts: 'last', mindsCase: false },
  { counts: 'first', mindsCase: false },
];

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;

/** What each known kind of reader makes of one JSON text. */
export function readEveryWay(text: string): readonly Record<string, unknown>[] {
  return READERS.map((reader) => read(text, reader) as Record<string, unknown>);
}

function read(text: string, { counts, mindsCase }: Reader): Json {
  let at = 0;
  const skipSpace = () => {
    while (/[\s\uFEFF]/.test(text[at] ?? '.')) at += 1;
  };
  const readString = (): string => {
    STRING.lastIndex = at;
    const [written = ''] = STRING.exec(text) ?? [];
    at += written.length;
    return JSON.parse(written) as string;
  };
  const readItems = (close: string, readItem: () => void) => {
    at += 1;
    for (skipSpace(); text[at] !== close; skipSpace()) {
      readItem();
      skipSpace();
      if (text[at] === ',') at += 1;
      skipSpace();
    }
    at += 1;
  };
  const readValue = (): Json => {
    skipSpace();
    if (text[at] === '"') return readString();
    if (text[at] === '[') {
      const items: Json[] = [];
      readItems(']', () => items.push(readValue()));
      return items;
    }
    if (text[at] === '{') {
      const fields = new Map<string, Json>();
      readItems('}', () => {
        const written = readString();
        const name = mindsCase ? written : written.replace('\u017F', 's').toLowerCase();
        skipSpace();
        at += 1;
        const value = readValue();
        if (counts === 'last' || !fields.has(name)) fields.set(name, value);
      });
      return Object.fromEntries(fields);
    }
    const [word = ''] = /^[\w.+-]+/.exec(text.slice(at)) ?? [];
    at += word.length;
    return JSON.parse(word) as Json;
  };
  return readValue();
}
