import type { RefusalName } from '../../protocol/refusals.ts';
import type { RequestDetails } from '../../protocol/request-details.ts';
import type { Try } from '../../protocol/try.ts';
import type { PackWriter } from './pack-writer.ts';

/**
 * The fields have no names, only places, because every request in the ledger has these details. New
 * fields go to the end.
 */
export type PackedDetails = readonly [
  format: RequestDetails['format'],
  isStream: boolean,
  maskedKey: string,
  sizes: readonly [bodyBytes: number, estimatedTokens: number, outputTokensMax: number],
  price: readonly [number, number, number, number, number, webSearch?: number],
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
  /** Undefined in entries written by versions without this mark. */
  isUsageImplausible?: boolean,
  /** Absent if the settings file ruled, as in entries written by versions without this field. */
  catalogueVersion?: number,
];

export function packDetails(writer: PackWriter, details: RequestDetails): void {
  const { price, tries, status, refusal, firstEventMs, catalogueVersion } = details;
  writer.list(catalogueVersion === undefined ? 13 : 14);
  writer.text(details.format);
  writer.flag(details.isStream);
  writer.text(details.maskedKey);
  writer.list(3);
  writer.number(details.bodyBytes);
  writer.number(details.estimatedTokens);
  writer.number(details.outputTokensMax);
  writer.list(price.webSearch === undefined ? 5 : 6);
  writer.number(price.input);
  writer.number(price.output);
  writer.number(price.cacheRead);
  writer.number(price.cacheWrite5m);
  writer.number(price.cacheWrite1h);
  if (price.webSearch !== undefined) writer.number(price.webSearch);
  writer.list(2 * tries.length);
  for (const { upstream, result } of tries) {
    writer.text(upstream);
    writer.text(result);
  }
  writer.text(details.outcome);
  if (status === undefined) writer.nothing();
  else writer.number(status);
  if (refusal === undefined) writer.nothing();
  else writer.text(refusal);
  writer.number(details.startedMs);
  writer.list(6);
  writer.number(details.bodyMs);
  writer.number(details.admittedMs);
  if (firstEventMs === undefined) writer.nothing();
  else writer.number(firstEventMs);
  writer.number(details.totalMs);
  writer.number(details.upstreamWaitMs);
  writer.number(details.clientWaitMs);
  writer.text(details.configVersion);
  writer.flag(details.isUsageImplausible);
  if (catalogueVersion !== undefined) writer.number(catalogueVersion);
}

export function unpackDetails(packed: PackedDetails): RequestDetails {
  const [format, isStream, maskedKey, sizes, prices, tries, outcome, status, refusal, startedMs] =
    packed;
  const [bodyBytes, estimatedTokens, outputTokensMax] = sizes;
  const [input, output, cacheRead, cacheWrite5m, cacheWrite1h, webSearch] = prices;
  const [bodyMs, admittedMs, firstEventMs, totalMs, upstreamWaitMs, clientWaitMs] = packed[10];
  const configVersion = packed[11];
  return {
    format,
    isStream,
    maskedKey,
    bodyBytes,
    estimatedTokens,
    outputTokensMax,
    configVersion,
    catalogueVersion: packed[13],
    price: { input, output, cacheRead, cacheWrite5m, cacheWrite1h, webSearch },
    tries: unpackTries(tries),
    outcome,
    status: status ?? undefined,
    refusal: (refusal ?? undefined) as RefusalName | undefined,
    startedMs,
    bodyMs,
    admittedMs,
    firstEventMs: firstEventMs ?? undefined,
    totalMs,
    upstreamWaitMs,
    clientWaitMs,
    isUsageImplausible: packed[12] ?? false,
  };
}

function unpackTries(packed: readonly string[]): Try[] {
  const tries: Try[] = [];
  for (let i = 0; i + 1 < packed.length; i += 2) {
    tries.push({ upstream: packed[i] ?? '', result: packed[i + 1] as Try['result'] });
  }
  return tries;
}
