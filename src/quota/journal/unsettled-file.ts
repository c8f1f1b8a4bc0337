import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';

export const UNSETTLED_FILE = 'unsettled.ndjson';

/**
 * Notes a settlement that the gateway gives up, for the operator. Resolves when the line is on the
 * disk. The gateway never reads this file. `chargedMicros` is what the sweep has already charged,
 * if that is known. People have to enter the rest by hand.
 */
export async function appendUnsettled(
  dir: string,
  settlement: Settlement,
  chargedMicros: number | undefined,
  reason: string,
): Promise<void> {
  const line = `${JSON.stringify(describeUnsettled(settlement, chargedMicros, reason))}\n`;
  const file = await open(join(dir, UNSETTLED_FILE), 'a', 0o600);
  try {
    await file.appendFile(line);
    await file.datasync();
  } finally {
    await file.close();
  }
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
    ...describeSettlement(settlement),
  };
}
