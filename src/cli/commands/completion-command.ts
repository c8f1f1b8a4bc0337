import { Argument, type Command, type Option } from 'commander';
import type { CommandHost } from '../admin-command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function registerCompletionCommand(program: Command, { terminal }: CommandHost): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .action((shell: Shell) => terminal.out(printCompletion(shell, listPlaces(program))));
}

/** A position in the command line, and the words that can follow it. */
interface Place {
  /** Such as `key create`. Empty for the program itself. */
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
  /** The values of options that take one of a few words. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

function listPlaces(command: Command, path = ''): Place[] {
  const options = command.createHelp().visibleOptions(command);
  const commands = command.createHelp().visibleCommands(command);
  const words = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const place: Place = {
    path,
    commands: [...commands.map((subcommand) => subcommand.name()), ...words],
    options: options.flatMap(({ long }) => long ?? []),
    values: new Map(options.flatMap((option) => choicesOf(option))),
  };
  const places = commands
    .filter((subcommand) => subcommand.name() !== 'help')
    .flatMap((subcommand) => listPlaces(subcommand, `${path} ${subcommand.name()}`.trim()));
  return [place, ...places];
}

function choicesOf({ long, argChoices }: Option): [string, readonly string[]][] {
  return long && argChoices ? [[long, argChoices]] : [];
}

function printCompletion(shell: Shell, places: readonly Place[]): string {
  switch (shell) {
    case 'bash':
      return printBash(places);
    case 'zsh':
      return printZsh(places);
    case 'fish':
      return printFish(places);
  }
}

/** The lines of two `case` statements, which are equal in bash and zsh. */
function printCases(places: readonly Place[]) {
  const steps = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const words = places.flatMap(({ path, commands, options, values }) => [
    ...[...values].map(
      ([option, choices]) => `    '${path}|${option}') words='${choices.join(' ')}' ;;`,
    ),
    `    '${path}|'*) words='${[...commands, ...options].join(' ')}' ;;`,
  ]);
  return { steps: steps.join('|'), words: words.join('\n') };
}

/** Follows the line as far as its words are commands, to find the words that may follow. */
function printBody(places: readonly Place[], given: string): string {
  const { steps, words } = printCases(places);
  return `  local place='' word words=''
  for word in ${given}; do
    case "\${place:+$place }$word" in
      ${steps}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place|$previous" in
${words}
  esac`;
}

function printBash(places: readonly Place[]): string {
  return `_tollgate() {
  local previous="\${COMP_WORDS[COMP_CWORD-1]}"
${printBody(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tollgate tollgate`;
}

function printZsh(places: readonly Place[]): string {
  // In zsh, `words` is the command line itself.
  const body = printBody(places, '"$line[@]"').replaceAll(/\bwords=/g, 'found=');
  return `#compdef tollgate
_tollgate() {
  local -a line=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words[CURRENT-1]}"
${body}
  if [[ -n "$found" ]]; then compadd -- \${=found}; else _files; fi
}
compdef _tollgate tollgate`;
}

function printFish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options, values }) => {
    const seen = path.split(' ').filter((word) => word !== '');
    const others = commands.map((word) => `not __fish_seen_subcommand_from ${word}`);
    const at = seen.map((word) => `__fish_seen_subcommand_from ${word}`);
    const isHere = [...at, ...others].join('; and ') || 'true';
    return [
      ...(commands.length > 0
        ? [`complete -c tollgate -f -n '${isHere}' -a '${commands.join(' ')}'`]
        : []),
      ...options.map((option) => {
        const choices = values.get(option);
        const takes = choices === undefined ? '' : ` -x -a '${choices.join(' ')}'`;
        return `complete -c tollgate -n '${isHere}' -l ${option.slice(2)}${takes}`;
      }),
    ];
  });
  return lines.join('\n');
}
