import type { Command } from 'commander';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { printReceipt, type ReceiptData } from '../print-receipt.ts';

/** The node searches Redis and its segments for up to 20 s. */
const ANSWER_TIME_MAX_MS = 30_000;

export function registerRequestCommand(program: Command, host: CommandHost): void {
  withAdminOptions(program.command('request <id>'))
    .description('the receipt of a request, by the request-id of its answer')
    .action((id: string, options: AdminOptions) =>
      runAdminCommand(host, options, async (client) => {
        const path = `/requests/${encodeURIComponent(id)}`;
        const receipt = await client.call<ReceiptData>('GET', path, undefined, ANSWER_TIME_MAX_MS);
        return { data: receipt, text: printReceipt(receipt) };
      }),
    );
}
