import { pack, unpack } from 'msgpackr';
import type { Usage } from '../protocol/inference.ts';

/** What a request cost: all that settling needs, wherever and whenever it happens. */
export interface Settlement {
  readonly bucket: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** Of the admission: `yyyymm`. */
  readonly month: string;
  readonly model: string;
  readonly actualMicros: number;
  /** When it was first tried to settle it, by the clock of the machine that served the request. */
  readonly firstTriedMs: number;
  /** Packed by `encodeLedgerUsage`. */
  readonly usage: Buffer;
}

/** What the ledger keeps of a usage. */
export interface LedgerUsage {
  readonly usage: Usage;
  /** Counted by the gateway, because the upstream did not say. */
  readonly isEstimated: boolean;
}

const USAGE_VERSION = 1;

export function encodeLedgerUsage({ usage, isEstimated }: LedgerUsage): Buffer {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, thinking } = usage;
  return pack([
    USAGE_VERSION,
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    output,
    thinking,
    isEstimated,
  ]);
}

/** Undefined for an entry without one, and for what a later version wrote. */
export function decodeLedgerUsage(packed: Uint8Array): LedgerUsage | undefined {
  if (packed.length === 0) return undefined;
  const [version, input, cacheRead, cacheWrite5m, cacheWrite1h, output, thinking, isEstimated] =
    unpack(packed) as [number, number, number, number, number, number, number, boolean];
  if (version !== USAGE_VERSION) return undefined;
  return {
    usage: { input, cacheRead, cacheWrite5m, cacheWrite1h, output, thinking },
    isEstimated,
  };
}
