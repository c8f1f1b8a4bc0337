import type { StoreNode } from './open-store.ts';

/** What a server reports about itself. */
export interface ServerFacts {
  readonly name: string;
  /** Undefined if the user may not ask for it. */
  readonly info: ReadonlyMap<string, string> | undefined;
  /**
   * Some values of CONFIG. Undefined if the user may not ask for them, as with most hosted servers.
   */
  readonly config: ReadonlyMap<string, string> | undefined;
}

const SETTINGS = ['appendfsync', 'save', 'maxmemory', 'maxmemory-policy', 'min-replicas-to-write'];

export async function readServerFacts({ name, send }: StoreNode): Promise<ServerFacts> {
  const [info, config] = await Promise.all([
    send('info', []).catch(() => undefined),
    send('config', ['get', ...SETTINGS]).catch(() => undefined),
  ]);
  return {
    name,
    info: typeof info === 'string' ? parseInfo(info) : undefined,
    config: Array.isArray(config) ? pairUp(config) : undefined,
  };
}

export function parseInfo(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

function pairUp(list: readonly unknown[]): Map<string, string> {
  const pairs = new Map<string, string>();
  for (let index = 0; index + 1 < list.length; index += 2) {
    pairs.set(String(list[index]), String(list[index + 1]));
  }
  return pairs;
}
