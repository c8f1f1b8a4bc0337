import type { Command } from 'commander';
import { readAdminSource } from '../config/source/read-admin-source.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import { CommandFailure } from './command-failure.ts';
import type { Terminal } from './terminal.ts';

/** The options of every command that uses the admin API. */
export interface AdminOptions {
  readonly url?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** What a command gets in order to print and to end with an exit code. */
export interface CommandHost {
  readonly terminal: Terminal;
  /** The exit code is 0 unless a command sets another. */
  setExitCode(code: number): void;
}

/** The output of a command: data for programs, text for people. */
export interface Printout {
  readonly data: unknown;
  readonly text: string;
}

export function withAdminOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the node (default: TOLLGATE_ADMIN_URL, else http://127.0.0.1:9400)')
    .option('--data-dir <folder>', 'where its admin token is, without TOLLGATE_ADMIN_TOKEN')
    .option('--json', 'print JSON');
}

/** Calls the admin API and prints the result, unless `run` has printed it already. */
export async function runAdminCommand(
  { terminal, setExitCode }: CommandHost,
  options: AdminOptions,
  run: (client: AdminClient) => Promise<Printout | undefined>,
): Promise<void> {
  const { url, dataDir, json } = options;
  try {
    const printed = await run(createAdminClient(readAdminSource({ url, dataDir })));
    if (printed === undefined) return;
    const { data, text } = printed;
    terminal.out(json === true ? JSON.stringify(data, undefined, 2) : text);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    terminal.err(`tollgate: ${error.message}`);
    setExitCode(1);
  }
}
