import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import {
  type AdminOptions,
  type CommandHost,
  runAdminCommand,
  withAdminOptions,
} from '../admin-command.ts';
import { parseAmount } from '../parse-values.ts';
import { printTable } from '../print-table.ts';

interface PaymentData {
  readonly id: string;
  readonly account: string;
  readonly amount: number;
  readonly balance: number;
  readonly repeated: boolean;
  readonly replicated: number;
}

interface CreditsOptions extends AdminOptions {
  readonly account: string;
  readonly amount: number;
  readonly id?: string;
  readonly note?: string;
}

export function registerCreditsCommands(program: Command, host: CommandHost): void {
  const group = program.command('credits').description('credits of an account');

  withAdminOptions(group.command('add'))
    .description('add to the balance of an account, once for each payment')
    .requiredOption('--account <id>', 'whose balance')
    .requiredOption('--amount <amount>', 'credits; negative takes them', parseAmount)
    .option('--id <payment>', 'a payment is entered once (default: a random id)')
    .option('--note <text>', 'for the ledger')
    .action((options: CreditsOptions) =>
      runAdminCommand(host, options, async (client) => {
        const { account, amount, id = randomUUID(), note } = options;
        const path = `/accounts/${encodeURIComponent(account)}/credits`;
        const payment = await client
          .call<PaymentData>('POST', path, { amount, id, note })
          .catch((cause) => {
            // With its id, the payment can safely be tried again, whether it was recorded or not.
            host.terminal.err(`tollgate: the payment's id is ${id}`);
            throw cause;
          });
        return { data: payment, text: printPayment(payment) };
      }),
    );
}

function printPayment({ id, account, amount, balance, repeated }: PaymentData): string {
  return printTable([
    ['payment', id],
    ['account', account],
    ['amount', `${amount}${repeated ? ', entered before and not again' : ''}`],
    ['balance', String(balance)],
  ]);
}
