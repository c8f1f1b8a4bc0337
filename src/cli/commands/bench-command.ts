import { type Command, Option } from 'commander';
import { readClientKey } from '../../config/source/read-client-key.ts';
import type { Secret } from '../../lib/secret.ts';
import { createModelRequest } from '../../load/create-model-request.ts';
import type { LoadProgress, LoadResult } from '../../load/load-result.ts';
import { runLoad } from '../../load/run-load.ts';
import { FORMAT_NAMES, type FormatName } from '../../protocol/format-names.ts';
import type { CommandHost } from '../admin-command.ts';
import { askOwnKey } from '../ask-own-key.ts';
import { CommandFailure } from '../command-failure.ts';
import { parseCountUpTo, parseDecimal, parseUrl } from '../parse-values.ts';
import { printLoad, showLoad } from '../print-load.ts';
import { type KeyCharge, readCharge } from '../read-charge.ts';

interface BenchOptions {
  readonly url: string;
  readonly key?: string;
  readonly format: FormatName;
  readonly model: string;
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
  readonly stream?: boolean;
  readonly bodyBytes?: number;
  readonly json?: boolean;
}

const RATE_MIN = 0.01;
const RATE_MAX = 100_000;
const SECONDS_MIN = 0.01;
const SECONDS_MAX = 86_400;
const CONNECTIONS_MAX = 60_000;
const BODY_BYTES_MAX = 64 * 1024 * 1024;

const HELP = `
The requests are real: they count against the rate limits of the key, and it is charged for them.
They are due at fixed times, however slowly answers come, and all times count from then.`;

export function registerBenchCommand(program: Command, { terminal, setExitCode }: CommandHost) {
  program
    .command('bench')
    .description('load a running gateway and show its latencies; this spends credits of a key')
    .option('--url <url>', 'the gateway', parseUrl, 'http://127.0.0.1:8080')
    .option('--key <key>', "default: TOLLGATE_KEY, else the data folder's demo-key")
    .addOption(
      new Option('--format <format>', 'format of the requests')
        .choices(FORMAT_NAMES)
        .default('native'),
    )
    .option('--model <model>', 'its id or alias', 'haiku')
    .option('--rate <number>', 'requests a second', parseDecimal(RATE_MIN, RATE_MAX), 10)
    .option('--seconds <number>', 'how long', parseDecimal(SECONDS_MIN, SECONDS_MAX), 10)
    .option('--connections <number>', 'how many at most', parseCountUpTo(CONNECTIONS_MAX), 128)
    .option('--stream', 'ask for streams')
    .option('--body-bytes <number>', 'of each request', parseCountUpTo(BODY_BYTES_MAX))
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: BenchOptions, command: Command) => {
      if (Math.round(options.rate * options.seconds) < 1) {
        command.error('error: at this rate nothing is due in this time');
      }
      try {
        const key = findKey(options);
        const before = await askOwnKey(options.url, key);
        const result = await sendLoad(options, key, terminal.progress);
        terminal.progress('');
        const charge = await readCharge(options.url, key, before);
        terminal.out(options.json ? printJson(options, result, charge) : printText(result, charge));
        if (result.statuses['200'] === undefined) setExitCode(1);
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
        terminal.err(`tollgate: ${error.message}`);
        setExitCode(1);
      }
    });
}

function findKey(options: BenchOptions): Secret {
  const { key, demoPath } = readClientKey(options.key);
  if (key !== undefined) return key;
  throw new CommandFailure(
    `there is no key: set TOLLGATE_KEY to one, such as "tollgate key create" prints. A node with a Redis of its own keeps its demo key in its data folder, which TOLLGATE_DATA_DIR names (there is none at ${demoPath})`,
  );
}

function sendLoad(
  options: BenchOptions,
  key: Secret,
  progress: (text: string) => void,
): Promise<LoadResult> {
  const { url, format, model, rate, seconds, connections, stream = false, bodyBytes } = options;
  const request = createModelRequest({
    ...{ format, model, bodyBytes },
    key: key.reveal(),
    isStream: stream,
  });
  const due = Math.round(rate * seconds);
  return runLoad({
    url: new URL(`${url}${request.path}`),
    method: 'POST',
    headers: request.headers,
    body: request.body,
    ratePerSecond: rate,
    seconds,
    connectionsMax: connections,
    isStream: stream,
    onProgress: (soFar) => progress(describeProgress(soFar, due)),
  });
}

function describeProgress({ sent, completed, failed }: LoadProgress, due: number): string {
  return `${sent} of ${due} sent, ${completed} answered, ${failed} failed`;
}

function printText(result: LoadResult, charge: KeyCharge): string {
  const isLimited = result.statuses['429'] !== undefined;
  return [
    printLoad(result),
    '',
    `charged: ${charge.credits === null ? 'unknown' : `${charge.credits} credits`}${charge.isFinal ? '' : ', and perhaps more that is still on its way'}`,
    ...(isLimited ? ['429: a limit of the key or its account; GET /v1/key shows them'] : []),
  ].join('\n');
}

function printJson(options: BenchOptions, result: LoadResult, charge: KeyCharge): string {
  const { url, format, model, rate, seconds, connections, stream, bodyBytes } = options;
  const shown = {
    ...{ url, format, model, rate, seconds, connections },
    stream: stream === true,
    body_bytes: bodyBytes ?? null,
    ...showLoad(result),
    charged: charge.credits,
    is_charge_final: charge.isFinal,
  };
  return JSON.stringify(shown, undefined, 2);
}
