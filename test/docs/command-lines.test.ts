import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { beforeAll, expect, it, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { CONTENTS_FILE, listPageFiles } from '../support/read-docs.ts';

const FILES = ['README.md', 'deploy/README.md', CONTENTS_FILE, ...listPageFiles()];
/** What `commands.md` has for any command, and the one that the parser adds itself. */
const NO_COMMANDS = ['COMMAND', 'help'];

let program: Command;

beforeAll(async () => {
  const parsing = vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(async function (
    this: Command,
  ) {
    program = this;
    return this;
  });
  await runCli([], () => Promise.reject(new Error('nothing is run')));
  parsing.mockRestore();
});

it.each(FILES)('the program knows every command in %s, with its options', (file) => {
  const wrong = findCommandLines(readFileSync(file, 'utf8')).flatMap((line) => {
    const problem = findProblem(line);
    return problem === undefined ? [] : [`${line}: ${problem}`];
  });
  expect(wrong).toEqual([]);
});

it('commands and options that there are not are found in all forms of a document', () => {
  const text = [
    'See `npx tollgate request ID` and `tollgate books claim --forced`, not `tollgate_metrics`.',
    '```sh',
    'kubectl exec gate-0 -- tollgate doctors --config FILE',
    'key=$(npx tollgate key create --account "$account" \\',
    '  --rmp 60 --json | jq -r .key)',
    'systemctl reload tollgate # tollgate nothing',
    '```',
  ].join('\n');
  expect(findCommandLines(text).map(findProblem)).toEqual([
    'there is no command doctors',
    'key create has no option --rmp',
    'there is no command request',
    'books claim has no option --forced',
  ]);
});

/** In blocks for a shell, and in code within a line, as far as a line begins with the program. */
function findCommandLines(text: string): string[] {
  const blocks = [...text.matchAll(/```(?:sh|bash)\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .replace(/\\\n */g, '')
      .split('\n')
      .flatMap((line) => line.replace(/(^|\s)#.*/, '').split(/\||&&|;|\$\(|>|(?<=\s)--(?=\s)/)),
  );
  const inline = [...text.replace(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(
    ([, code = '']) => code.replace(/\s+/g, ' '),
  );
  return [...blocks, ...inline].flatMap((code) => {
    const [, line] =
      /^\s*(?:npx tollgate|tollgate|node dist\/src\/main\.js) (\S.*)$/.exec(code) ?? [];
    return line === undefined ? [] : [line];
  });
}

function findProblem(line: string): string | undefined {
  // A description of a command has options in brackets, and choices between them.
  const words = line
    .replace(/"[^"]*"|'[^']*'/g, 'TEXT')
    .split(/[\s[\]|\\()]+/)
    .filter((word) => word !== '');
  if (NO_COMMANDS.includes(words[0] ?? '')) return undefined;
  let command = program;
  const path: string[] = [];
  for (const word of words) {
    if (command.commands.length === 0 || word.startsWith('-')) break;
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined) return `there is no command ${[...path, word].join(' ')}`;
    command = found;
    path.push(word);
  }
  const known = new Set(['--help', ...command.options.flatMap(({ long, short }) => [long, short])]);
  if (command === program) known.add('--version');
  const unknown = words
    // Others are amounts below zero.
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*/, ''))
    .find((word) => !known.has(word));
  return unknown === undefined ? undefined : `${path.join(' ')} has no option ${unknown}`;
}
