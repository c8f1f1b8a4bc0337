import { setTimeout as sleep } from 'node:timers/promises';
import type { Operator } from '../accounts/audit-entry.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../lib/log.ts';
import type { ReloadResult } from '../ops/reload-result.ts';

/** How long somebody waits for the end of a reload before being told that it goes on. */
const WAIT_MAX_MS = 60_000;
const WAITING_MAX = 16;

export type ReloadEnd = Extract<ReloadResult, { kind: 'reloaded' | 'refused' | 'failed' }>;

interface ReloadOptions<Next> {
  /** Rejects, with nothing changed, when there is something wrong with the new settings. */
  readonly readNext: () => Promise<Next>;
  /** Rejects, with everything as it was before, when the new settings cannot take over. */
  readonly takeOver: (next: Next) => Promise<void>;
  /** Of the settings that hold. */
  readonly version: () => string;
  /** Called for everybody who asked, when theirs is over. */
  readonly onEnd: (end: ReloadEnd, who: Operator, versionBefore: string) => Promise<void>;
  readonly log: Log;
}

export type Reload = (who: Operator) => Promise<ReloadResult>;

/**
 * One reload at a time. What is asked for meanwhile is done once more afterwards, for all who asked: the one
 * that runs may have read the file before it was changed.
 */
export function createReload<Next>(options: ReloadOptions<Next>): Reload {
  const { version, onEnd, log } = options;
  let running: Promise<ReloadRun> | undefined;
  let following: Promise<ReloadRun> | undefined;
  let waiting = 0;

  const start = () => {
    following = undefined;
    running = carryOut(options).finally(() => {
      running = undefined;
    });
    return running;
  };

  return async (who) => {
    if (waiting >= WAITING_MAX) {
      log.warn({}, 'a reload is not carried out: too many wait');
      return { kind: 'busy' };
    }
    waiting += 1;
    if (running !== undefined) following ??= running.then(start);
    const run = (following ?? start()).then(async ({ end, versionBefore }) => {
      waiting -= 1;
      await onEnd(end, who, versionBefore);
      return end;
    });
    const timer = new AbortController();
    const isLate = sleep(WAIT_MAX_MS, undefined, { ref: false, signal: timer.signal });
    const late = isLate.then((): ReloadResult => ({ kind: 'running', configVersion: version() }));
    return await Promise.race([run, late]).finally(() => timer.abort());
  };
}

interface ReloadRun {
  readonly end: ReloadEnd;
  readonly versionBefore: string;
}

async function carryOut<Next>(options: ReloadOptions<Next>): Promise<ReloadRun> {
  const { readNext, takeOver, version, log } = options;
  const versionBefore = version();
  let next: Next;
  try {
    next = await readNext();
  } catch (error) {
    const isWrong = error instanceof ConfigError;
    const problems = isWrong ? error.problems : [String(error)];
    log.error({ problems }, 'reload refused: the node goes on as it was');
    const needsRestart = isWrong ? error.needsRestart : [];
    return { end: { kind: 'refused', problems, needsRestart }, versionBefore };
  }
  try {
    await takeOver(next);
  } catch (error) {
    const problems = [String(error)];
    log.error({ problems }, 'reload failed: the node goes on with its old settings');
    return { end: { kind: 'failed', problems }, versionBefore };
  }
  log.info({ config: version() }, 'reloaded');
  return { end: { kind: 'reloaded', configVersion: version() }, versionBefore };
}
