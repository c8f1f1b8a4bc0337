import type { Command } from 'commander';
import type { WrittenLimit } from '../../config/schema/limit-schemas.ts';
import type { AdminClient } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { CommandFailure, isRefused } from '../command-failure.ts';
import { parseListOption } from '../limit-option.ts';
import {
  NONE,
  orNone,
  parseAmount,
  parseCount,
  parseExpiry,
  parseNames,
  parseSeconds,
  parseText,
  parseYesOrNo,
} from '../parse-values.ts';
import { type KeyData, printKey, printKeys } from '../print-keys.ts';
import { ABSENT } from '../print-table.ts';
import { fetchAccounts } from './account-commands.ts';

interface ControlOptions extends AdminOptions {
  readonly name?: string | typeof NONE;
  readonly rpm?: number | typeof NONE;
  readonly models?: readonly string[] | typeof NONE;
  readonly monthlyCap?: number | typeof NONE;
  readonly concurrency?: number | typeof NONE;
  readonly expires?: string | typeof NONE;
  readonly group?: string | typeof NONE;
  readonly limit?: readonly WrittenLimit[];
  readonly userLimit?: readonly WrittenLimit[];
  readonly requireUser?: boolean;
}

export function registerKeyCommands(program: Command, host: CommandHost): void {
  const group = program.command('key').description('keys: controls, rotation, revocation');

  withControlOptions(group.command('create'), (parse) => parse)
    .description('create a key and print it, this once')
    .requiredOption('--account <id>', 'whose key it is')
    .action((options: ControlOptions & { readonly account: string }) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/accounts/${encodeURIComponent(options.account)}/keys`;
        return printKey(await client.call<KeyData>('POST', path, controlsOf(options)));
      }),
    );

  withAdminOptions(group.command('list'))
    .description('list keys, the oldest of an account first')
    .option('--account <id>', 'of this account only')
    .action((options: AdminOptions & { readonly account?: string }) =>
      runAdminCommand(host, options, async (client) => {
        const keys = await listKeys(client, options.account);
        return { data: keys, text: printKeys(keys) };
      }),
    );

  withAdminOptions(group.command('show <id>'))
    .description('show a key')
    .action((id: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) =>
        printKey(await client.call<KeyData>('GET', pathOf(id))),
      ),
    );

  withControlOptions(group.command('set <id>'), orNone)
    .description('change the controls of a key; none removes one')
    .action((id: string, options: ControlOptions, command: Command) => {
      const controls = controlsOf(options);
      if (Object.values(controls).every((value) => value === undefined)) {
        command.error('error: there is nothing to set: name a control, see --help');
      }
      return runAdminCommand(host, options, async (client) =>
        printKey(await client.call<KeyData>('PATCH', pathOf(id), controls)),
      );
    });

  withAdminOptions(group.command('rotate <id>'))
    .description('give a key a new secret and print it, this once')
    .option('--overlap <time>', 'how long the old secret stays valid (default: 24h)', parseSeconds)
    .action((id: string, options: AdminOptions & { readonly overlap?: number }) =>
      runAdminCommand(host, options, async (client) => {
        const before = await client.call<KeyData>('GET', pathOf(id));
        const body = { overlap_seconds: options.overlap };
        const rotated = client.call<KeyData>('POST', `${pathOf(id)}/rotate`, body);
        return printKey(await rotated.catch((error) => refuseRotation(error, before)));
      }),
    );

  withAdminOptions(group.command('revoke <id>'))
    .description('end a key at once, and for good')
    .option('--yes', 'do not ask first, as it does on a terminal')
    .action((id: string, options: AdminOptions & { readonly yes?: boolean }) =>
      runAdminCommand(host, options, async (client) => {
        const isAsked = options.yes !== true && host.terminal.isAttended();
        if (isAsked) await confirmRevocation(host, client, id);
        return printKey(await client.call<KeyData>('POST', `${pathOf(id)}/revoke`, {}));
      }),
    );
}

/** A rotation that may have taken place must not be tried again before the key was checked. */
function refuseRotation(error: unknown, { id, rotated_at: rotatedAt }: KeyData): never {
  if (isRefused(error) || !(error instanceof CommandFailure)) throw error;
  const message = `${error.message}\n\`rotated\` of ${id} was ${rotatedAt ?? ABSENT} before: if \`tollgate key show ${id}\` says otherwise now, its new secret is lost, and rotating again ends the one in use at once`;
  throw new CommandFailure(message, { cause: error });
}

async function confirmRevocation({ terminal }: CommandHost, client: AdminClient, id: string) {
  const { account, name, last4 } = await client.call<KeyData>('GET', pathOf(id));
  const named = `${name === '' ? 'the key' : name} (…${last4}) of ${account}`;
  const question = `Revoke ${named}? Every secret of ${id} is refused from then on, for good.`;
  if (!(await terminal.confirm(question))) throw new CommandFailure(`${id} was not revoked`);
}

/** `wrap` extends the values that an option takes beyond those of its control. */
function withControlOptions(
  command: Command,
  wrap: <Value>(parse: (text: string) => Value) => (text: string) => Value | typeof NONE,
): Command {
  return withAdminOptions(
    command
      .option('--name <name>', 'what people call it', wrap(parseText))
      .option(
        '--rpm <number>',
        'requests in limits.rate_window, a minute by default',
        wrap(parseCount),
      )
      .option('--models <names>', 'allowed models, separated by commas', wrap(parseNames))
      .option('--monthly-cap <amount>', 'credits a calendar month, UTC', wrap(parseAmount))
      .option('--concurrency <number>', 'requests at the same time', wrap(parseCount))
      .option('--expires <time>', 'when it ends: 30d from now, or 2027-01-31', wrap(parseExpiry))
      .option('--group <id>', 'the group that it belongs to', wrap(parseText))
      .option('--limit <limit>', 'such as tokens=400000/1m; may be repeated', parseListOption)
      .option('--user-limit <limit>', 'of each end user; may be repeated', parseListOption)
      .option(
        '--require-user <yes|no>',
        'whether each request must name its end user',
        parseYesOrNo,
      ),
  );
}

/**
 * The controls under the names of the admin API. Controls that were not given are left out of the
 * JSON.
 */
function controlsOf(options: ControlOptions) {
  const { name, rpm, models, monthlyCap, concurrency, expires, group } = options;
  const { limit, userLimit, requireUser } = options;
  const controls = {
    ...{ name, rpm, models, monthly_cap: monthlyCap, concurrency, expires_at: expires, group },
    ...{ limits: limit, user_limits: userLimit, require_user: requireUser },
  };
  return Object.fromEntries(
    Object.entries(controls).map(([control, value]) => [control, value === NONE ? null : value]),
  );
}

async function listKeys(client: AdminClient, account: string | undefined) {
  const ids = account === undefined ? (await fetchAccounts(client)).map(({ id }) => id) : [account];
  const keys: KeyData[] = [];
  for (const id of ids) {
    const path = `/accounts/${encodeURIComponent(id)}/keys`;
    const { data } = await client.call<{ readonly data: readonly KeyData[] }>('GET', path);
    keys.push(...data);
  }
  return keys;
}

function pathOf(id: string): string {
  return `/keys/${encodeURIComponent(id)}`;
}
