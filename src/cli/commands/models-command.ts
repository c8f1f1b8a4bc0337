import type { Command } from 'commander';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { ABSENT, printTable } from '../print-table.ts';

interface ModelData {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly context_length: number;
  readonly beta_context_length: number | null;
  readonly max_output_tokens: number;
  readonly price: Readonly<Record<string, number | null>>;
  readonly routes: readonly RouteData[];
}

interface RouteData {
  readonly upstream: string;
  readonly weight: number;
  readonly priority: number;
}

const PRICES = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'web_search'];

export function registerModelsCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('models'))
    .description(
      'the models: windows in tokens, prices in credits per million tokens or thousand searches, routes',
    )
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const { data } = await client.call<{ readonly data: readonly ModelData[] }>(
          'GET',
          '/models',
        );
        return { data, text: printModels(data) };
      }),
    );
}

function printModels(models: readonly ModelData[]): string {
  const heads = PRICES.map((name) => name.toUpperCase().replaceAll('_', ' '));
  return printTable([
    ['ID', 'ALIASES', 'WINDOW', 'BETA WINDOW', 'MAX OUTPUT', ...heads, 'ROUTES'],
    ...models.map((model) => [
      ...[model.id, model.aliases.join(',') || ABSENT, String(model.context_length)],
      ...[String(model.beta_context_length ?? ABSENT), String(model.max_output_tokens)],
      ...PRICES.map((name) => String(model.price[name] ?? ABSENT)),
      model.routes.map(printRoute).join(', '),
    ]),
  ]);
}

/** Requests go to the lowest priority that is available, spread by weight. */
function printRoute({ upstream, weight, priority }: RouteData): string {
  return `${upstream} (priority ${priority}, weight ${weight})`;
}
