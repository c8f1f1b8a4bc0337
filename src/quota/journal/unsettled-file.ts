import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';

export const UNSETTLED_FILE = 'unsettled.ndjson';

/**
 * Notes for the operator what the gateway gives up; resolves when it is on the disk. Nobody here reads it. `chargedMicros`
 * is what the sweep has charged already, where anybody knows; what is left is for people to enter.
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
