import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { assert } from '../lib/assert.ts';
import type { RedisConnection } from './connect-redis.ts';
import type { CommandArg } from './direct-line/command-writer.ts';
import { type LuaHeader, parseLuaHeader } from './parse-lua-header.ts';

/** Accepts exactly these names. `Record<never, …>` alone would accept any object. */
type ByName<Name extends string, Value> = [Name] extends [never]
  ? Readonly<Record<string, never>>
  : Readonly<Record<Name, Value>>;

/** Numbers are safe integers. Bytes are for values that the script unpacks itself. */
type LuaArg = CommandArg;

/** A script that is called by the names of its keys and arguments, never by their positions. */
export interface LuaScript<
  KeyName extends string,
  ArgName extends string,
  EachName extends string = never,
> {
  /** `further` holds more requests for the same run, if the script takes several. */
  call(
    connection: Pick<RedisConnection, 'send'>,
    keys: ByName<KeyName, string>,
    args: ByName<ArgName | EachName, LuaArg>,
    further?: readonly ByName<EachName, LuaArg>[],
  ): Promise<unknown>;
}

/**
 * Throws if the names differ from those in the header of the file, which a reader of the Lua code
 * sees.
 */
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
    // Checking once is enough: a caller that makes this mistake makes it from the first call on.
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

/**
 * Puts the parts that the header names in front of the script. `#!lua` has to stay the first
 * line. Redis makes the functions of a script again at each run, at 400 instructions each. So
 * functions that few requests need are made by `lists()`, which returns them in a table.
 */
function readSource(file: URL, names: NamedLists): string {
  const script = readFileSync(file, 'utf8');
  const header = readHeader(basename(file.pathname), script);
  checkNames(basename(file.pathname), header, names);
  // Scripts in a folder of their own share the parts of the folder above.
  const parent = existsSync(new URL('lua', file)) ? '' : '../';
  const readPart = (name: string) =>
    readFileSync(new URL(`${parent}lua/${name}.lua`, file), 'utf8');
  const parts = header.uses.map(readPart);
  const lists = header.lists.map(readPart);
  const shebang = /^#!lua[^\n]*\n/.exec(script)?.[0] ?? '';
  if (lists.length > 0) parts.push('local function lists()\n', ...lists, 'end\n');
  return [shebang, ...parts, script.slice(shebang.length)].join('');
}

type NamedLists = Omit<LuaHeader, 'uses' | 'lists'>;

function readHeader(fileName: string, script: string): LuaHeader {
  try {
    return parseLuaHeader(script);
  } catch (cause) {
    throw new Error(`${fileName}: ${(cause as Error).message}`, { cause });
  }
}

function checkNames(fileName: string, inFile: LuaHeader, inCode: NamedLists): void {
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
 * Lists the values in the order of the names. If the caller writes the values in that order too,
 * none of them has to be searched for by name; a request has 31 of them.
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

/**
 * A Cluster refuses a call whose keys live on different nodes. This finds the mistake without a
 * Cluster.
 */
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
