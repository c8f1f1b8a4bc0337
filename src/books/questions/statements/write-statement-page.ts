import type { ShownUsage, UsageSums } from '../usage/show-usage.ts';
import { type Html, html } from './html.ts';
import { MISSING_NOTE } from './missing-note.ts';
import type { StatedPayment, Statement } from './statement.ts';
import { STATEMENT_STYLE } from './statement-style.ts';

/** A page that needs nothing else, and runs nothing. */
export function* writeStatementPage(statement: Statement, now: Date): Generator<string> {
  for (const part of writeParts(statement, now)) yield `${part.html}\n`;
}

function* writeParts(statement: Statement, now: Date): Generator<Html> {
  const { account, account_name, is_closed, incomplete, books_until, payments, total } = statement;
  const name = account_name ?? account;
  const title = `Statement of ${name}, ${nameMonth(statement.month)}`;
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STATEMENT_STYLE}</style>
</head>
<body>
<header>
<h1>Statement</h1>
<p class="month">${nameMonth(statement.month)}</p>
<p>${name}<br><code>${account}</code></p>
${is_closed ? [] : html`<p class="open">Preliminary: this month is not closed. ${describeUntil(books_until)}</p>`}
${incomplete === null ? [] : html`<p class="open">${MISSING_NOTE}</p>`}
</header>`;
  yield writeSummary(statement);
  yield html`<h2>Payments</h2>`;
  if (payments.length === 0) yield html`<p>There were none.</p>`;
  else yield* writePayments(payments);
  if (total.requests === 0 && statement.charged === 0) {
    yield html`<h2>Usage</h2>
<p>There was none.</p>`;
  } else {
    yield* writeUsage(
      'Usage by model',
      'Model',
      statement.by_model,
      total,
      ({ model }) => html`${model ?? 'unknown'}`,
    );
    yield* writeUsage(
      'Usage by key',
      'Key',
      statement.by_key,
      total,
      ({ key, key_name }) => html`${key_name ?? ''} <code>${key ?? 'unknown'}</code>`,
    );
  }
  yield html`<footer>Amounts are in credits, times in UTC. Made on ${showTime(now.toISOString())}.</footer>
</body>
</html>`;
}

function describeUntil(booksUntil: string | null): string {
  return booksUntil === null ? '' : `It has what was entered until ${showTime(booksUntil)}.`;
}

function writeSummary(statement: Statement): Html {
  const row = (name: string, credits: number) =>
    html`<tr><th scope="row">${name}</th><td>${showCredits(credits)}</td></tr>
`;
  return html`<table class="summary">
<tbody>
${row('Opening balance', statement.opening_balance)}${row('Paid', statement.paid)}${row('Charged', 0 - statement.charged)}</tbody>
<tfoot>
${row('Closing balance', statement.closing_balance)}</tfoot>
</table>`;
}

function* writePayments(payments: readonly StatedPayment[]): Generator<Html> {
  yield html`<table>
<thead><tr><th>Time</th><th>Kind</th><th>Payment</th><th>Note</th><th class="n">Amount</th><th class="n">Balance</th></tr></thead>
<tbody>`;
  for (const { time, kind, id, note, amount, balance } of payments) {
    yield html`<tr><td>${showTime(time)}</td><td>${kind}</td><td>${id}</td><td>${note ?? ''}</td><td class="n">${showCredits(amount)}</td><td class="n">${showCredits(balance)}</td></tr>`;
  }
  yield html`</tbody>
</table>`;
}

function* writeUsage(
  title: string,
  column: string,
  rows: readonly ShownUsage[],
  total: UsageSums,
  nameOf: (row: ShownUsage) => Html,
): Generator<Html> {
  yield html`<h2>${title}</h2>
<table>
<thead><tr><th>${column}</th><th class="n">Requests</th><th class="n">Input tokens</th><th class="n">Cached tokens</th><th class="n">Output tokens</th><th class="n">Searches</th><th class="n">Charged</th></tr></thead>
<tbody>`;
  for (const row of rows) yield writeUsageRow(html`<td>${nameOf(row)}</td>`, row);
  yield html`</tbody>
<tfoot>
${writeUsageRow(html`<th scope="row">Total</th>`, total)}
</tfoot>
</table>`;
}

function writeUsageRow(head: Html, { requests, tokens, searches, charged }: UsageSums): Html {
  const cached = tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
  const counts = [requests, tokens.input, cached, tokens.output, searches];
  const cells = counts.map((count) => html`<td class="n">${showCount(count)}</td>`);
  return html`<tr>${head}${cells}<td class="n">${showCredits(charged)}</td></tr>`;
}

/** As in the dashboard, where credits have as many decimals as they need. */
const LOCALE = 'en-GB';
const MONTH = new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const COUNT = new Intl.NumberFormat(LOCALE);
const CREDITS = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 6 });

function nameMonth(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}

function showCount(count: number): string {
  return COUNT.format(count);
}

function showCredits(credits: number): string {
  return CREDITS.format(credits);
}

function showTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)}`;
}
