import type { Try } from '../protocol/inference.ts';
import type { RefusalName } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';

/** By place, since every request has one in the ledger. New ones go to the end. */
export type PackedDetails = readonly [
  format: RequestDetails['format'],
  isStream: boolean,
  maskedKey: string,
  sizes: readonly [bodyBytes: number, estimatedTokens: number, outputTokensMax: number],
  price: readonly [number, number, number, number, number],
  /** Upstream and result in turn. */
  tries: readonly string[],
  outcome: RequestDetails['outcome'],
  status: number | null,
  refusal: string | null,
  startedMs: number,
  times: readonly [
    bodyMs: number,
    admittedMs: number,
    firstEventMs: number | null,
    totalMs: number,
    upstreamWaitMs: number,
    clientWaitMs: number,
  ],
  configVersion: string,
];

export function packDetails(details: RequestDetails): PackedDetails {
  const { price } = details;
  return [
    details.format,
    details.isStream,
    details.maskedKey,
    [details.bodyBytes, details.estimatedTokens, details.outputTokensMax],
    [price.input, price.output, price.cacheRead, price.cacheWrite5m, price.cacheWrite1h],
    details.tries.flatMap(({ upstream, result }) => [upstream, result]),
    details.outcome,
    details.status ?? null,
    details.refusal ?? null,
    details.startedMs,
    [
      details.bodyMs,
      details.admittedMs,
      details.firstEventMs ?? null,
      details.totalMs,
      details.upstreamWaitMs,
      details.clientWaitMs,
    ],
    details.configVersion,
  ];
}

export function unpackDetails(packed: PackedDetails): RequestDetails {
  const [format, isStream, maskedKey, sizes, prices, tries, outcome, status, refusal, startedMs] =
    packed;
  const [bodyBytes, estimatedTokens, outputTokensMax] = sizes;
  const [input, output, cacheRead, cacheWrite5m, cacheWrite1h] = prices;
  const [bodyMs, admittedMs, firstEventMs, totalMs, upstreamWaitMs, clientWaitMs] = packed[10];
  const configVersion = packed[11];
  return {
    ...{ format, isStream, maskedKey, bodyBytes, estimatedTokens, outputTokensMax, configVersion },
    price: { input, output, cacheRead, cacheWrite5m, cacheWrite1h },
    tries: unpackTries(tries),
    outcome,
    status: status ?? undefined,
    refusal: (refusal ?? undefined) as RefusalName | undefined,
    ...{ startedMs, bodyMs, admittedMs },
    firstEventMs: firstEventMs ?? undefined,
    ...{ totalMs, upstreamWaitMs, clientWaitMs },
  };
}

function unpackTries(packed: readonly string[]): Try[] {
  const tries: Try[] = [];
  for (let i = 0; i + 1 < packed.length; i += 2) {
    tries.push({ upstream: packed[i] ?? '', result: packed[i + 1] as Try['result'] });
  }
  return tries;
}
