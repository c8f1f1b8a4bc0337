import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../lib/secret.ts';
import { MICROS_PER_CREDIT } from '../lib/units/micros.ts';
import { askOwnKey, type OwnKeyFigures } from './ask-own-key.ts';
import { CommandFailure } from './command-failure.ts';

/** The charges to a key since `before`, for all its requests. */
export interface KeyCharge {
  /** Null if it is not known: the month has ended, or the gateway does not answer any more. */
  readonly credits: number | null;
  /** Whether no more of the key is held than before, so that no charge is still to come. */
  readonly isFinal: boolean;
}

/** Charges follow the answers. The command waits this long for them. */
const SETTLE_WAIT_MAX_MS = 5_000;
const SETTLE_POLL_MS = 200;

export async function readCharge(
  url: string,
  key: Secret,
  before: OwnKeyFigures,
): Promise<KeyCharge> {
  const deadlineMs = performance.now() + SETTLE_WAIT_MAX_MS;
  try {
    for (;;) {
      const after = await askOwnKey(url, key);
      const isFinal = after.held <= before.held;
      if (isFinal || performance.now() > deadlineMs) {
        return { credits: subtract(after, before), isFinal };
      }
      await sleep(SETTLE_POLL_MS);
    }
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { credits: null, isFinal: false };
  }
}

function subtract(after: OwnKeyFigures, before: OwnKeyFigures): number | null {
  if (after.month !== before.month) return null;
  const micros = (after.spent_this_month - before.spent_this_month) * MICROS_PER_CREDIT;
  return Math.round(micros) / MICROS_PER_CREDIT;
}
