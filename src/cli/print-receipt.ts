import { ABSENT, printTable } from './print-table.ts';

/** Absent while the request runs. Null if the value was lost. */
type Maybe<Value> = Value | null | undefined;

export interface ReceiptData {
  readonly id: string;
  readonly state: string;
  readonly account: string | null;
  readonly key: string | null;
  readonly model: string | null;
  readonly kind?: Maybe<string>;
  readonly held: number;
  readonly seen?: number;
  readonly charged?: number;
  readonly short?: number;
  readonly balance_after?: Maybe<number>;
  readonly config_version?: Maybe<string>;
  readonly catalogue_version?: Maybe<number>;
  readonly usage?: Maybe<{
    readonly input: number;
    readonly cache_read: number;
    readonly cache_write_5m: number;
    readonly cache_write_1h: number;
    readonly output: number;
    readonly searches: number;
    readonly estimated: boolean;
  }>;
  readonly price?: Maybe<{
    readonly input: number;
    readonly output: number;
    readonly web_search?: number;
  }>;
  readonly asked?: Maybe<{
    readonly format: string;
    readonly stream: boolean;
    readonly body_bytes: number;
    readonly max_tokens: number;
  }>;
  readonly answered?: Maybe<{
    readonly upstream: string | null;
    readonly outcome: string;
    readonly status: number | null;
    readonly refusal: string | null;
  }>;
  readonly tries?: Maybe<readonly { readonly upstream: string; readonly result: string }[]>;
  readonly times?: Maybe<{
    readonly started_at: string;
    readonly first_event_ms: number | null;
    readonly total_ms: number;
    readonly upstream_wait_ms: number;
    readonly client_wait_ms: number;
  }>;
}

/** The receipt for people. `--json` shows all of it. */
export function printReceipt(receipt: ReceiptData): string {
  const { short = 0, tries, config_version: settings } = receipt;
  const rows: [name: string, value: Maybe<string | number>][] = [
    ['request', receipt.id],
    ['state', receipt.state],
    ['account', receipt.account ?? ABSENT],
    ['key', receipt.key ?? ABSENT],
    ['model', receipt.model ?? ABSENT],
    ['kind', receipt.kind],
    ['held', receipt.held],
    ['seen', receipt.seen],
    ['charged', receipt.charged],
    ['short', short > 0 ? short : undefined],
    ['balance after', receipt.balance_after],
    ['usage', printUsage(receipt.usage)],
    ['price', printPrice(receipt.price)],
    ['asked', printAsked(receipt.asked)],
    ['answered', printAnswered(receipt.answered)],
    ['tries', tries?.map(({ upstream, result }) => `${upstream}: ${result}`).join(', ')],
    ['times', printTimes(receipt.times)],
    ['settings', settings],
    ['catalogue', receipt.catalogue_version],
  ];
  return printTable(
    rows.flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
    ),
  );
}

function printUsage(usage: ReceiptData['usage']): string | undefined {
  if (!usage) return undefined;
  const written = usage.cache_write_5m + usage.cache_write_1h;
  const cached = `${usage.cache_read} read from the cache, ${written} written to it`;
  const searched = usage.searches > 0 ? `, ${usage.searches} searches` : '';
  const used = `${usage.input} tokens in, ${cached}, ${usage.output} out${searched}`;
  return usage.estimated ? `${used}, estimated` : used;
}

function printPrice(price: ReceiptData['price']): string | undefined {
  if (!price) return undefined;
  const { input, output, web_search: search } = price;
  const searched = search === undefined ? '' : `, ${search} per thousand searches`;
  return `${input} in, ${output} out, per million tokens${searched}`;
}

function printAsked(asked: ReceiptData['asked']): string | undefined {
  if (!asked) return undefined;
  const { format, stream, body_bytes: bytes, max_tokens: tokensMax } = asked;
  return `${format}, ${stream ? 'streamed' : 'whole'}, ${bytes} bytes, at most ${tokensMax} tokens out`;
}

function printAnswered(answered: ReceiptData['answered']): string | undefined {
  if (!answered) return undefined;
  const { status, outcome, refusal, upstream } = answered;
  const parts = [status, outcome, refusal, upstream === null ? null : `by ${upstream}`];
  return parts.filter((part) => part !== null).join(', ');
}

function printTimes(times: ReceiptData['times']): string | undefined {
  if (!times) return undefined;
  const { started_at: start, first_event_ms: first, total_ms: total } = times;
  const parts = [
    `began ${start}`,
    ...(first === null ? [] : [`first event after ${first} ms`]),
    `took ${total} ms`,
    `${times.upstream_wait_ms} ms of it waiting for upstreams`,
    `${times.client_wait_ms} ms for the client`,
  ];
  return parts.join(', ');
}
