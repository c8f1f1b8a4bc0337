import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSettlement, type Settlement } from './settlement.ts';

export const UNSETTLED_FILE = 'unsettled.ndjson';

/** Notes for the operator what the gateway gives up; resolves when it is on the disk. Nobody here reads it. */
export async function appendUnsettled(
  dir: string,
  settlement: Settlement,
  reason: string,
): Promise<void> {
  const line = `${JSON.stringify({ reason, ...describeSettlement(settlement) })}\n`;
  const file = await open(join(dir, UNSETTLED_FILE), 'a', 0o600);
  try {
    await file.appendFile(line);
    await file.datasync();
  } finally {
    await file.close();
  }
}
