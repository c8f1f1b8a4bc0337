import type { Command } from 'commander';
import { readAdminSource } from '../config/source/read-admin-source.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import { CommandFailure } from './command-failure.ts';
import type { Terminal } from './terminal.ts';

/** What every command over the admin API takes. */
export interface AdminOptions {
  readonly url?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** What registers commands gets, to run them with. */
export interface CommandHost {
  readonly terminal: Terminal;
  /** 0 unless a command says otherwise. */
  setExitCode(code: number): void;
}

/** What a command prints: for programs the data, for people a text. */
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

/** Calls the admin API and prints what came of it, unless that is printed already. */
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
