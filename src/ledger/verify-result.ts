import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'last-verify.json';

/** What a node tells of the last `tollgate ledger verify`, which is a process of its own. */
export interface VerifyResult {
  readonly verifiedMs: number;
  /** 0 when the ledger and Redis agreed. */
  readonly drifts: number;
  /** Undefined in what an earlier version wrote. */
  readonly unsettledHolds: number | undefined;
}

/** Beside the segments; rejects where there is no such folder. */
export async function writeVerifyResult(dir: string, result: VerifyResult): Promise<void> {
  const path = join(dir, FILE);
  const newPath = `${path}.${process.pid}.new`;
  await writeFile(newPath, `${JSON.stringify(result)}\n`);
  await rename(newPath, path);
}

/** Undefined when there was none yet. */
export function readVerifyResult(dir: string): VerifyResult | undefined {
  try {
    const { verifiedMs, drifts, unsettledHolds } = JSON.parse(
      readFileSync(join(dir, FILE), 'utf8'),
    );
    return {
      verifiedMs: Number(verifiedMs),
      drifts: Number(drifts),
      unsettledHolds: unsettledHolds === undefined ? undefined : Number(unsettledHolds),
    };
  } catch {
    return undefined;
  }
}
