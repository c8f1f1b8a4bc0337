import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { assert } from '../lib/assert.ts';
import type { RedisConnection } from './connect-redis.ts';
import type { CommandArg } from './direct-line/command-writer.ts';
import { type LuaHeader, parseLuaHeader } from './parse-lua-header.ts';

/** Exactly these names: `Record<never, …>` alone would accept any object. */
type ByName<Name extends string, Value> = [Name] extends [never]
  ? Readonly<Record<string, never>>
  : Readonly<Record<Name, Value>>;

/** Numbers are safe integers; bytes are for what a script unpacks itself. */
type LuaArg = CommandArg;

/** A script that is called by the names of its keys and arguments, never by their places. */
export interface LuaScript<
  KeyName extends string,
  ArgName extends string,
  EachName extends string = never,
> {
  /** `further` are more requests of the same run, where the script takes several. */
  call(
    connection: Pick<RedisConnection, 'send'>,
    keys: ByName<KeyName, string>,
    args: ByName<ArgName | EachName, LuaArg>,
    further?: readonly ByName<EachName, LuaArg>[],
  ): Promise<unknown>;
}

/** Throws when the names differ from those in the file's header, which is what a reader of Lua sees. */
export function loadLuaScript<
  const KeyNames extends readonly string[],
  const ArgNames extends readonly string[],
  const EachNames extends readonly string[] = readonly [],
>(
  file: URL,
  keyNames: KeyNames,
  argNames: ArgNames,
  eachNames?: EachNames,
): LuaScript<KeyNames[number], ArgNames[number], EachNames[number]> {
  const repeated: readonly string[] = eachNames ?? [];
  const source = readSource(file, { keys: keyNames, args: argNames, each: repeated });
  const allNames = [...argNames, ...repeated];
  const keyCount = keyNames.length;
  const sha = createHash('sha1').update(source).digest('hex');

  let isChecked = false;

  const listCall = (
    keys: Values<string>,
    args: Values<LuaArg>,
    further: readonly Values<LuaArg>[],
  ): CommandArg[] => {
    const list = new Array<CommandArg>(FIRST_KEY + keyCount + allNames.length);
    list[0] = sha;
    list[1] = keyCount;
    listValues(list, FIRST_KEY, keyNames, keys);
    // What a caller does wrong, it does from the beginning.
    if (!isChecked) assertOneHashTag(list, keyCount);
    isChecked = true;
    listValues(list, FIRST_KEY + keyCount, allNames, args);
    for (const values of further) listValues(list, list.length, repeated, values);
    return list;
  };

  return {
    call(connection, keys, args, further = []) {
      let list: CommandArg[];
      try {
        list = listCall(keys, args, further);
      } catch (error) {
        return Promise.reject(error);
      }
      return connection.send('evalsha', list).catch((error: unknown) => {
        // A restarted, failed-over or flushed server has no scripts; EVAL brings this one back.
        const isUnknown = error instanceof Error && error.message.startsWith('NOSCRIPT');
        if (!isUnknown) throw error;
        return connection.send('eval', [source, ...list.slice(1)]);
      });
    },
  };
}

/** The script with the parts that its header names in front of it; `#!lua` has to stay the first line. */
function readSource(file: URL, names: Omit<LuaHeader, 'uses'>): string {
  const script = readFileSync(file, 'utf8');
  const header = readHeader(basename(file.pathname), script);
  checkNames(basename(file.pathname), header, names);
  const parts = header.uses.map((name) => readFileSync(new URL(`lua/${name}.lua`, file), 'utf8'));
  const shebang = /^#!lua[^\n]*\n/.exec(script)?.[0] ?? '';
  return [shebang, ...parts, script.slice(shebang.length)].join('');
}

function readHeader(fileName: string, script: string): LuaHeader {
  try {
    return parseLuaHeader(script);
  } catch (cause) {
    throw new Error(`${fileName}: ${(cause as Error).message}`, { cause });
  }
}

function checkNames(fileName: string, inFile: LuaHeader, inCode: Omit<LuaHeader, 'uses'>): void {
  for (const [list, name] of [
    ['KEYS', 'keys'],
    ['ARGV', 'args'],
    ['Each', 'each'],
  ] as const) {
    const [header, wrapper] = [inFile[name].join(', '), inCode[name].join(', ')];
    if (header !== wrapper) {
      throw new Error(`${fileName}: ${list} differ\n  header:  ${header}\n  wrapper: ${wrapper}`);
    }
  }
}

type Values<Value> = Readonly<Record<string, Value>>;

/**
 * In the order of the names, which is that of the values too where the caller is written so: then each is found without
 * a search by its name, of which there are 31 a request.
 */
function listValues<Value extends CommandArg>(
  list: CommandArg[],
  start: number,
  names: readonly string[],
  values: Values<Value>,
): void {
  let count = 0;
  for (const name in values) {
    const value = name === names[count] ? values[name] : values[names[count] ?? ''];
    list[start + count] = checkArg(names[count] ?? name, value);
    count++;
  }
  if (count !== names.length) assert(false, `${names[count] ?? 'no more'} is given`);
}

const FIRST_KEY = 2;

/** A Cluster refuses a call whose keys live on different nodes; this finds the mistake without one. */
function assertOneHashTag(list: readonly CommandArg[], keyCount: number): void {
  if (keyCount === 0) return;
  const first = String(list[FIRST_KEY]);
  const untilTagEnd = first.slice(0, first.indexOf('}') + 1);
  for (let at = FIRST_KEY; at < FIRST_KEY + keyCount; at++) {
    const key = String(list[at]);
    if (!key.startsWith(untilTagEnd)) assert(false, `${key} has the hash tag of ${first}`);
  }
}

function checkArg(name: string, value: LuaArg | undefined): LuaArg {
  if (value === undefined) assert(false, `${name} is given`);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    assert(false, `${name} is a safe integer, got ${value}`);
  }
  return value;
}
