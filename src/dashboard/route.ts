import { signal } from '@preact/signals';

/** The page in the address, such as `/accounts/acc_1`, without anything after a `?`. */
export const place = signal(readPlace());

window.addEventListener('hashchange', () => {
  place.value = readPlace();
});

function readPlace(): string {
  const [path = ''] = location.hash.replace(/^#/, '').split('?');
  return path === '' || path === '/' ? '/overview' : path;
}

/**
 * Returns what stands in the place of `{id}`; undefined if the pattern has no `{id}`, null if the
 * pattern does not match.
 */
export function matchPlace(pattern: string, path: string): string | undefined | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  let id: string | undefined;
  for (const [index, segment] of wanted.entries()) {
    const part = given[index] ?? '';
    if (segment === '{id}' && part !== '') id = decodePart(part);
    else if (segment !== part) return null;
  }
  return id;
}

/** An address written by hand may contain anything. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
