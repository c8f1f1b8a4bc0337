import { readFile } from 'node:fs/promises';
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { parse, stringify } from 'yaml';
import type { AdminClient } from '../admin-client.ts';
import {
  type AdminOptions,
  type CommandHost,
  type Printout,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { CommandFailure } from '../command-failure.ts';
import { parseCount, parseTime } from '../parse-values.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface CatalogueData {
  readonly version: number | null;
  readonly catalogue: object;
}

interface DiffData {
  readonly changes: readonly { field: string; before: unknown; after: unknown }[];
}

interface ChangeData extends DiffData {
  readonly version: number | null;
  readonly from: string | null;
}

interface NoteData {
  readonly version: number;
  readonly from: string;
  readonly applied_at: string;
  readonly kind: string;
  readonly who: {
    readonly via: string;
    readonly address: string | null;
    readonly operator: { readonly name: string } | null;
  } | null;
  readonly rolled_back_to: number | null;
}

interface ChangeOptions extends AdminOptions {
  readonly yes?: boolean;
}

interface ApplyOptions extends ChangeOptions {
  readonly from?: string;
}

/** A document from a file, and the version that it was made from. */
interface EditedDocument {
  readonly baseVersion: number;
  readonly catalogue: object;
}

/** The name of a file that stands for the standard input. */
const STDIN = '-';
const NOBODY_TO_ASK = 'nobody can be asked: use --yes';

export function registerCatalogueCommand(program: Command, host: CommandHost): void {
  const group = program.command('catalogue').description('what is sold: models, prices and plans');

  withAdminOptions(group.command('get'))
    .description('print the last version as YAML, to be edited and applied')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const data = await client.call<CatalogueData>('GET', '/catalogue');
        return { data, text: printDocument(data) };
      }),
    );

  withAdminOptions(group.command('history'))
    .description('the versions that are kept, the last first')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const path = '/catalogue/history';
        const { data } = await client.call<{ data: readonly NoteData[] }>('GET', path);
        return { data, text: printHistory(data) };
      }),
    );

  withAdminOptions(group.command('diff'))
    .argument('<file>', 'YAML or JSON as `get` prints it; - reads the standard input')
    .description('what a file would change')
    .action((file: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const data = await tryFile(client, await readEdited(client, file), undefined);
        return { data, text: printChanges(data) };
      }),
    );

  withAdminOptions(group.command('apply'))
    .argument('<file>', 'YAML or JSON as `get` prints it; - reads the standard input')
    .option('--from <time>', 'from when it holds (default: at once)', parseTime)
    .option('--yes', 'do not ask')
    .description('show what a file changes, ask, and make it the last version')
    .action((file: string, options: ApplyOptions) =>
      runAdminCommand(host, options, (client) => applyFile(host, client, file, options)),
    );

  withAdminOptions(group.command('rollback'))
    .argument('<version>', 'the version to go back to', parseCount)
    .option('--yes', 'do not ask')
    .description(
      'show what an earlier version changes, ask, and make it the last one, at once; withdraws versions that wait',
    )
    .action((version: number, options: ChangeOptions) =>
      runAdminCommand(host, options, (client) => rollBack(host, client, version, options)),
    );
}

async function applyFile(
  host: CommandHost,
  client: AdminClient,
  file: string,
  { from, yes }: ApplyOptions,
): Promise<Printout | undefined> {
  const edited = await readEdited(client, file);
  const tried = await tryFile(client, edited, from);
  if (tried.changes.length === 0) return { data: tried, text: printChanges(tried) };
  // The answer would have to come from an input that is read to its end.
  if (yes !== true && file === STDIN) throw new CommandFailure(NOBODY_TO_ASK);
  if (yes !== true && !(await confirm(host, 'Apply this?', tried))) return undefined;
  const data = await client.call<ChangeData>('PUT', '/catalogue', bodyOf(edited, from));
  return {
    data,
    text: `${printChanges(data)}\nversion ${data.version} holds from ${data.from}`,
  };
}

/** If somebody changes the catalogue while this asks, the node refuses. */
async function rollBack(
  host: CommandHost,
  client: AdminClient,
  version: number,
  { yes }: ChangeOptions,
): Promise<Printout | undefined> {
  const last = await client.call<CatalogueData>('GET', '/catalogue');
  const base = last.version ?? 1;
  if (yes !== true) {
    const path = `/catalogue/diff?from=${base}&to=${version}`;
    const shown = await client.call<DiffData>('GET', path);
    if (!(await confirm(host, `Go back to version ${version}, at once?`, shown))) return undefined;
  }
  const body = { base_version: base, version };
  const data = await client.call<ChangeData>('POST', '/catalogue/rollback', body);
  return { data, text: `${printChanges(data)}\nversion ${data.version} holds at once` };
}

async function confirm(
  { terminal, setExitCode }: CommandHost,
  question: string,
  shown: DiffData,
): Promise<boolean> {
  if (!terminal.isAttended()) throw new CommandFailure(NOBODY_TO_ASK);
  terminal.err(printChanges(shown));
  const isAgreed = await terminal.confirm(question);
  if (!isAgreed) setExitCode(1);
  return isAgreed;
}

function tryFile(
  client: AdminClient,
  edited: EditedDocument,
  from: string | undefined,
): Promise<ChangeData> {
  return client.call('PUT', '/catalogue', { ...bodyOf(edited, from), dry_run: true });
}

function bodyOf({ baseVersion, catalogue }: EditedDocument, from: string | undefined) {
  return { base_version: baseVersion, catalogue, ...(from !== undefined && { from }) };
}

/** A file that names no version counts as made from the last one. */
async function readEdited(client: AdminClient, file: string): Promise<EditedDocument> {
  const { version, catalogue, ...rest } = await readFields(file);
  const document = typeof catalogue === 'object' && catalogue !== null ? catalogue : rest;
  if (version !== undefined && version !== null) {
    if (Number.isSafeInteger(version) && Number(version) >= 1) {
      return { baseVersion: Number(version), catalogue: document };
    }
    const shown = JSON.stringify(version);
    throw new CommandFailure(`version: must be a whole number of 1 or more, not ${shown}`);
  }
  const last = await client.call<CatalogueData>('GET', '/catalogue');
  return { baseVersion: last.version ?? 1, catalogue: document };
}

/** What `get` printed: the fields of the document, or of the whole answer with `--json`. */
async function readFields(file: string): Promise<Readonly<Record<string, unknown>>> {
  const name = file === STDIN ? 'the standard input' : file;
  let value: unknown;
  try {
    value = parse(await (file === STDIN ? readText(process.stdin) : readFile(file, 'utf8')));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailure(`${name} cannot be read: ${reason.trimEnd()}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new CommandFailure(`${name} must have plans and models`);
}

function printDocument({ version, catalogue }: CatalogueData): string {
  const document = version === null ? catalogue : { version, ...catalogue };
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
}

function printChanges({ changes }: DiffData): string {
  if (changes.length === 0) return 'nothing changes';
  return printTable([
    ['FIELD', 'BEFORE', 'AFTER'],
    ...changes.map(({ field, before, after }) => [field, printValue(before), printValue(after)]),
  ]);
}

function printValue(value: unknown): string {
  if (value === null) return ABSENT;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The settings made the first version. */
function printWho({ who }: NoteData): string {
  if (who === null) return 'settings';
  const by = who.operator?.name ?? who.via;
  return who.address === null ? by : `${by} from ${who.address}`;
}

function printHistory(notes: readonly NoteData[]): string {
  return printTable([
    ['VERSION', 'HOLDS FROM', 'APPLIED AT', 'KIND', 'BY', 'BACK TO'],
    ...notes.map((note) => [
      ...[String(note.version), note.from, note.applied_at, note.kind, printWho(note)],
      String(note.rolled_back_to ?? ABSENT),
    ]),
  ]);
}
