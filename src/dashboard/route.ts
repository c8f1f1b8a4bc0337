import { signal } from '@preact/signals';

/** The place in the address, `/accounts/acc_1`, without what follows a `?`. */
export const place = signal(readPlace());

window.addEventListener('hashchange', () => {
  place.value = readPlace();
});

function readPlace(): string {
  const [path = ''] = location.hash.replace(/^#/, '').split('?');
  return path === '' || path === '/' ? '/overview' : path;
}

/** What stands in the place of `{id}`, undefined where nothing does; null when the pattern is of another page. */
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

/** Who writes an address by hand may write anything. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
