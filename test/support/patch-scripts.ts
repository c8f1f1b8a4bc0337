import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';

/** A text that occurs once in the scripts, and its replacement. */
export interface Patch {
  readonly find: string;
  readonly replace: string;
}

type Connection = Pick<RedisConnection, 'send'>;

const SCRIPTS = 'src/quota';

const READ_CLOCK = `  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)`;

export const CLOCK_KEY = 'test-clock';

/** Freezes the scripts' clock at the value of `CLOCK_KEY`. */
export const FROZEN_CLOCK: Patch = {
  find: READ_CLOCK,
  replace: `  return tonumber(redis.call('GET', '${CLOCK_KEY}'))`,
};

/** Lets the scripts' clock run, ahead of the real clock by the value of `CLOCK_KEY`. */
export const STEPPED_CLOCK: Patch = {
  find: READ_CLOCK,
  replace: `${READ_CLOCK} + (redis.call('GET', '${CLOCK_KEY}') or 0)`,
};

/**
 * A connection that patches the scripts it sends, to give them a clock of the test's own or a bug.
 * The product has no hook for this; its wrappers run unchanged.
 */
export function patchScripts(connection: Connection, patches: readonly Patch[]): Connection {
  const patched = new Map<string, { source: string; sha: string }>();
  for (const patch of patches) assertFoundOnce(patch);

  const patch = (source: string) => {
    const known = patched.get(source);
    if (known !== undefined) return known;
    // A part that lists of limits need too is in a script twice.
    const changed = patches.reduce(
      (text, { find, replace }) => text.replaceAll(find, () => replace),
      source,
    );
    const script = { source: changed, sha: createHash('sha1').update(changed).digest('hex') };
    patched.set(source, script);
    return script;
  };

  return {
    async send(command, args) {
      // A wrapper that gets this error sends the whole script.
      if (command === 'evalsha') throw new Error('NOSCRIPT it is not the patched one');
      if (command !== 'eval') return connection.send(command, args);
      const { source, sha } = patch(String(args[0]));
      try {
        return await connection.send('evalsha', [sha, ...args.slice(1)]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      }
      return connection.send('eval', [source, ...args.slice(1)]);
    },
  };
}

function assertFoundOnce({ find }: Patch): void {
  const files = readdirSync(SCRIPTS, { recursive: true, encoding: 'utf8' });
  const places = files
    .filter((file) => file.endsWith('.lua'))
    .map((file) => readFileSync(join(SCRIPTS, file), 'utf8').split(find).length - 1)
    .reduce((sum, count) => sum + count, 0);
  if (places !== 1) throw new Error(`${places} places in the scripts have the text: ${find}`);
}
