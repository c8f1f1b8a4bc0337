import type { Command } from 'commander';
import type { AdminClient } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { NodeRefusal } from '../command-failure.ts';
import { printTable } from '../print-table.ts';

/** The node answers within a minute, even if the reload takes longer. */
const ANSWER_TIME_MAX_MS = 90_000;
/** For all nodes, one after the other, with all their workers. */
const FLEET_TIME_MAX_MS = 14_400_000;

interface ReloadData {
  readonly status: 'reloaded' | 'running';
  readonly config_version: string;
}

interface ReloadOptions extends AdminOptions {
  readonly all?: boolean;
}

interface FleetReloadData {
  readonly nodes: readonly {
    readonly id: string;
    readonly status: string;
    readonly config_version?: string;
    readonly problems?: readonly string[];
  }[];
}

/** The status of a refused or failed reload, by the error code of the answer. */
const STATUSES: Readonly<Record<string, string>> = {
  invalid_config: 'refused',
  reload_failed: 'failed',
};

export function registerReloadCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('reload'))
    .description('make a node reload its settings, and wait until they are in use')
    .option('--all', 'all nodes, one after the other, until one does not')
    .action((options: ReloadOptions) =>
      runAdminCommand(host, options, (client) =>
        options.all === true
          ? reloadAll(client, host)
          : reloadOne(client, host, options.json === true),
      ),
    );
}

async function reloadOne(client: AdminClient, host: CommandHost, json: boolean) {
  try {
    const path = '/reload';
    const result = await client.call<ReloadData>('POST', path, {}, ANSWER_TIME_MAX_MS);
    return printResult(host, result);
  } catch (error) {
    const refusal = json ? findRefusal(error) : undefined;
    if (refusal === undefined) throw error;
    host.setExitCode(1);
    return { data: refusal, text: '' };
  }
}

async function reloadAll(client: AdminClient, { setExitCode }: CommandHost): Promise<Printout> {
  const path = '/cluster/reload';
  const data = await client.call<FleetReloadData>('POST', path, {}, FLEET_TIME_MAX_MS);
  const { nodes } = data;
  if (nodes.some(({ status }) => status !== 'reloaded')) setExitCode(1);
  const table = printTable([
    ['NODE', 'STATUS', 'SETTINGS'],
    ...nodes.map(({ id, status, config_version: version = '-' }) => [id, status, version]),
  ]);
  const problems = nodes.flatMap(({ id, problems: found = [] }) =>
    found.map((problem) => `${id}: ${problem}`),
  );
  return { data, text: [table, ...problems].join('\n') };
}

/** The output for programs. Undefined if the error is not about the settings. */
function findRefusal(error: unknown): object | undefined {
  if (!(error instanceof NodeRefusal)) return undefined;
  const { code, problems = [], needs_restart: needsRestart = [] } = error.told;
  const status = STATUSES[code];
  return status === undefined ? undefined : { status, problems, needs_restart: needsRestart };
}

function printResult({ setExitCode }: CommandHost, result: ReloadData): Printout {
  const { status, config_version: version } = result;
  if (status === 'reloaded') return { data: result, text: `reloaded: settings ${version}` };
  // The outcome is not known yet.
  setExitCode(1);
  const text = `still running: settings ${version} hold until it ends; tollgate audit shows it if it takes place, the log of the node if not`;
  return { data: result, text };
}
