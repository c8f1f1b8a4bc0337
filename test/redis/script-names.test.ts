import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseLuaHeader } from '../../src/redis/parse-lua-header.ts';

const listed = execFileSync('git', ['ls-files', 'src/**/*.lua'], { encoding: 'utf8' });
const files = listed.split('\n').filter((file) => file !== '' && !file.includes('/lua/'));

/** The lines that name what the header lists, in the order of the lines. */
function namingLines(script: string): readonly string[] {
  const { keys, args, each } = parseLuaHeader(script);
  // Only the probe script ignores its key. It takes no arguments either.
  if (args.length === 0 && keys[0] === 'probe') return [];
  const argsEnd = each.length > 0 ? `, 1, ${args.length}` : '';
  const nameAll = (names: readonly string[], table: string, range: string) =>
    `local ${names.join(', ')} = ${names.length === 1 ? `${table}[1]` : `unpack(${table}${range})`}`;
  return [
    // The keys of a run that has groups tell only where it runs.
    ...(hasGroups(script) ? [] : [nameAll(keys.filter(isUsed), 'KEYS', '')]),
    ...(args.length > 0 ? [nameAll(args, 'ARGV', argsEnd)] : []),
    ...(hasGroups(script) ? nameGroups(each) : nameEach(each, args.length + 1)),
  ];
}

/** The whole bucket is declared for the server alone. */
const isUsed = (key: string) => key !== 'whole';

const hasGroups = (script: string) => script.includes('\nwhile first <= #ARGV do\n');

/** The first of each group tells what the others share: for these the first value is empty. */
function nameGroups(each: readonly string[]): readonly string[] {
  const [shared, ...others] = each;
  const length = each.length;
  const idAt = each.indexOf('request_id');
  const head = [shared, ...Array(idAt - 1).fill('_'), 'first_id'].join(', ');
  return [
    'while first <= #ARGV do',
    `while ARGV[last + ${length}] == '' do last = last + ${length} end`,
    `local ${head} = unpack(ARGV, first, first + ${idAt})`,
    `local ${['_', ...others].join(', ')} = unpack(ARGV, place, place + ${length - 1})`,
  ];
}

function nameEach(each: readonly string[], first: number): readonly string[] {
  if (each.length === 0) return [];
  if (each.length === 1)
    return [`for first = ${first}, #ARGV do`, `local ${each[0]} = ARGV[first]`];
  return [
    `for first = ${first}, #ARGV, ${each.length} do`,
    `local ${each.join(', ')} = unpack(ARGV, first, first + ${each.length - 1})`,
  ];
}

describe('a script', () => {
  it.each(files)('names its keys and arguments once, as its header does: %s', (file) => {
    const script = readFileSync(file, 'utf8');
    const code = script.slice(script.indexOf(']]\n'));
    const lines = code
      .replaceAll(/ =\n\s+/g, ' = ')
      .split('\n')
      .filter((line) => /\b(KEYS|ARGV)\b/.test(line));
    expect(lines.map((line) => line.trim())).toEqual(namingLines(script));
  });

  it.each(files)('declares the whole bucket if it makes names of further keys: %s', (file) => {
    const script = readFileSync(file, 'utf8');
    const { keys, args } = parseLuaHeader(script);
    const makesNames = args.includes('prefix') || hasGroups(script);
    expect(keys.includes('whole')).toBe(makesNames);
  });
});
