import type { Command } from 'commander';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../../admin-command.ts';
import { CommandFailure } from '../../command-failure.ts';
import { ABSENT, printTable } from '../../print-table.ts';

/** The node gives the receiver 10 s, and reports the result. */
const TEST_TIME_MAX_MS = 30_000;

interface WebhookData {
  readonly name: string;
  readonly url: string;
  readonly waiting: number;
  readonly dropped: number;
  readonly delivered_at: string | null;
  readonly failing_since: string | null;
  readonly reason: string | null;
}

interface TestData {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly reason: string | null;
}

export function registerWebhooksCommands(program: Command, host: CommandHost): void {
  const group = program
    .command('webhooks')
    .description('the webhooks of the settings, which receive events');

  withAdminOptions(group.command('list'))
    .description('list all webhooks, and how they go')
    .action((options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const path = '/webhooks';
        const { data } = await client.call<{ readonly data: readonly WebhookData[] }>('GET', path);
        return { data, text: printWebhooks(data) };
      }),
    );

  withAdminOptions(group.command('test <name>'))
    .description('send a test event to a webhook')
    .action((name: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/webhooks/${encodeURIComponent(name)}/test`;
        const data = await client.call<TestData>('POST', path, {}, TEST_TIME_MAX_MS);
        if (data.delivered) return { data, text: `${name} took it, with status ${data.status}` };
        if (options.json !== true) {
          throw new CommandFailure(`${name} did not take it: ${data.reason}`);
        }
        host.setExitCode(1);
        return { data, text: '' };
      }),
    );
}

function printWebhooks(webhooks: readonly WebhookData[]): string {
  return printTable([
    ['NAME', 'URL', 'WAITING', 'DROPPED', 'LAST DELIVERY', 'FAILS SINCE', 'REASON'],
    ...webhooks.map((webhook) => [
      ...[webhook.name, webhook.url, String(webhook.waiting), String(webhook.dropped)],
      ...[
        webhook.delivered_at ?? ABSENT,
        webhook.failing_since ?? ABSENT,
        webhook.reason ?? ABSENT,
      ],
    ]),
  ]);
}
