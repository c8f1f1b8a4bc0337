import { signal } from '@preact/signals';

/** The page in the address, such as `/accounts/acc_1`, without anything after a `?`. */
export const place = signal(readAddress().path);
/** What follows the `?` in the address. */
export const placeQuery = signal(readAddress().query);

window.addEventListener('hashchange', () => {
  const { path, query } = readAddress();
  place.value = path;
  placeQuery.value = query;
});

function readAddress() {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  return { path: path === '' || path === '/' ? '/overview' : path, query };
}

/** Opens the page at the place: `/requests?model=haiku`. */
export function openPlace(opened: string): void {
  location.hash = `#${opened}`;
}

/** What stands in the places of `{id}` and the like: `{id: 'acc_1'}`. */
export type PlaceParts = Readonly<Record<string, string>>;

/** Returns null if the pattern does not match. */
export function matchPlace(pattern: string, path: string): PlaceParts | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const parts: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const part = given[index] ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    if (name !== undefined && part !== '') parts[name] = decodePart(part);
    else if (segment !== part) return null;
  }
  return parts;
}

/** An address written by hand may contain anything. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
