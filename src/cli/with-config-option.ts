import type { Command } from 'commander';

export function withConfigOption(command: Command): Command {
  return command.option(
    '--config <file>',
    'settings file (default: TOLLGATE_CONFIG, else the defaults)',
  );
}
