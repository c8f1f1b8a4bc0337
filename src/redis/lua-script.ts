import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { assert } from '../lib/assert.ts';
import type { RedisConnection } from './connect-redis.ts';
import { parseLuaHeader } from './parse-lua-header.ts';

/** Exactly these names: `Record<never, …>` alone would accept any object. */
type Named<Name extends string, Value> = [Name] extends [never]
  ? Readonly<Record<string, never>>
  : Readonly<Record<Name, Value>>;

/** Numbers are safe integers; bytes are for what a script unpacks itself. */
type LuaArg = string | number | Buffer;

/** A script that is called by the names of its keys and arguments, never by their places. */
export interface LuaScript<KeyName extends string, ArgName extends string> {
  call(
    connection: Pick<RedisConnection, 'send'>,
    keys: Named<KeyName, string>,
    args: Named<ArgName, LuaArg>,
  ): Promise<unknown>;
}

/** Throws when the names differ from those in the file's header, which is what a reader of Lua sees. */
export function loadLuaScript<
  const KeyNames extends readonly string[],
  const ArgNames extends readonly string[],
>(
  file: URL,
  keyNames: KeyNames,
  argNames: ArgNames,
): LuaScript<KeyNames[number], ArgNames[number]> {
  const source = readFileSync(file, 'utf8');
  checkHeader(basename(file.pathname), source, keyNames, argNames);
  const sha = createHash('sha1').update(source).digest('hex');

  return {
    async call(connection, keys, args) {
      const keyList = keyNames.map((name) => pick<string>(keys, name));
      assertOneHashTag(keyList);
      const rest = [
        String(keyList.length),
        ...keyList,
        ...argNames.map((name) => encodeArg(name, pick<LuaArg>(args, name))),
      ];
      try {
        return await connection.send('evalsha', [sha, ...rest]);
      } catch (error) {
        // A restarted, failed-over or flushed server has no scripts; EVAL brings this one back.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      }
      return await connection.send('eval', [source, ...rest]);
    },
  };
}

function checkHeader(
  fileName: string,
  source: string,
  keyNames: readonly string[],
  argNames: readonly string[],
): void {
  const inFile = showNames(fileName, source);
  const inCode = { KEYS: keyNames.join(', '), ARGV: argNames.join(', ') };
  for (const list of ['KEYS', 'ARGV'] as const) {
    if (inFile[list] !== inCode[list]) {
      throw new Error(
        `${fileName}: ${list} differ\n  header:  ${inFile[list]}\n  wrapper: ${inCode[list]}`,
      );
    }
  }
}

function showNames(fileName: string, source: string): { KEYS: string; ARGV: string } {
  try {
    const { keys, args } = parseLuaHeader(source);
    return { KEYS: keys.join(', '), ARGV: args.join(', ') };
  } catch (cause) {
    throw new Error(`${fileName}: ${(cause as Error).message}`, { cause });
  }
}

function pick<Value>(values: Readonly<Record<string, unknown>>, name: string): Value {
  const value = values[name];
  assert(value !== undefined, `${name} is given`);
  return value as Value;
}

/** A Cluster refuses a call whose keys live on different nodes; this finds the mistake without one. */
function assertOneHashTag(keys: readonly string[]): void {
  const first = keys[0];
  if (first === undefined) return;
  const untilTagEnd = first.slice(0, first.indexOf('}') + 1);
  for (const key of keys) {
    assert(key.startsWith(untilTagEnd), `${key} has the hash tag of ${first}`);
  }
}

function encodeArg(name: string, value: LuaArg): string | Buffer {
  if (typeof value !== 'number') return value;
  assert(Number.isSafeInteger(value), `${name} is a safe integer, got ${value}`);
  return String(value);
}
