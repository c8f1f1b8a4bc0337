import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { creditsOf } from '../../lib/units/micros.ts';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';

export const UNSETTLED_FILE = 'unsettled.ndjson';

/** The settlements that the gateway gives up, for the operator, who moves the file away. */
export interface UnsettledFile {
  /**
   * Its size when last checked. Also starts a new check, for the next call: people move the file
   * away while the node runs.
   */
  bytes(): number;
  /**
   * Resolves when the line is on the disk. `chargedMicros` is what the sweep has already charged,
   * if that is known. People have to enter the rest by hand.
   */
  append(settlement: Settlement, chargedMicros: number | undefined, reason: string): Promise<void>;
}

/** The gateway never reads this file. */
export async function openUnsettledFile(dir: string): Promise<UnsettledFile> {
  const path = join(dir, UNSETTLED_FILE);
  let bytes = 0;

  const check = async () => {
    const found = await stat(path).catch(() => undefined);
    bytes = found?.size ?? 0;
  };

  await check();
  return {
    bytes() {
      void check();
      return bytes;
    },
    async append(settlement, chargedMicros, reason) {
      const line = `${JSON.stringify(describeUnsettled(settlement, chargedMicros, reason))}\n`;
      const file = await open(path, 'a', 0o600);
      try {
        await file.appendFile(line);
        await file.datasync();
      } finally {
        await file.close();
        await check();
      }
    },
  };
}

function describeUnsettled(
  settlement: Settlement,
  chargedMicros: number | undefined,
  reason: string,
): object {
  const leftMicros = chargedMicros === undefined ? null : settlement.actualMicros - chargedMicros;
  return {
    reason,
    chargedMicros: chargedMicros ?? null,
    leftMicros,
    // To be passed to a payment as it is.
    leftCredits: leftMicros === null ? null : creditsOf(leftMicros),
    ...describeSettlement(settlement),
  };
}
