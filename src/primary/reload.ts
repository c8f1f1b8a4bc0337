import { setTimeout as sleep } from 'node:timers/promises';
import type { Operator } from '../accounts/audit/audit-entry.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../lib/log.ts';
import type { ReloadResult } from '../ops/reload-result.ts';

/** By default: clients and proxies give up when they hear nothing for much longer. */
const WAIT_MAX_MS = 60_000;
const WAITING_MAX = 16;

export type ReloadEnd = Extract<ReloadResult, { kind: 'reloaded' | 'refused' | 'failed' }>;

export interface ReloadRun<Settings> {
  readonly end: ReloadEnd;
  readonly before: Settings;
  /** Equal to `before` unless the reload took place. */
  readonly after: Settings;
}

interface ReloadOptions<Next> {
  /** Rejects and changes nothing if the new settings are wrong. */
  readonly readNext: () => Promise<Next>;
  /** Rejects if the new settings cannot take over. Everything is then as it was before. */
  readonly takeOver: (next: Next) => Promise<void>;
  /** The settings in use. */
  readonly inUse: () => Next;
  readonly versionOf: (settings: Next) => string;
  /** Called once for each caller, when the reload that answers the call is over. */
  readonly onEnd: (run: ReloadRun<Next>, who: Operator) => Promise<void>;
  readonly log: Log;
}

/** After `waitMaxMs`, a caller learns only that the reload still runs. */
export type Reload = (who: Operator, waitMaxMs?: number) => Promise<ReloadResult>;

/**
 * Runs one reload at a time. Calls that arrive during a reload share one more reload after it,
 * because the running one may have read the file before it was changed.
 */
export function createReload<Next>(options: ReloadOptions<Next>): Reload {
  const { inUse, versionOf, onEnd, log } = options;
  let running: Promise<ReloadRun<Next>> | undefined;
  let following: Promise<ReloadRun<Next>> | undefined;
  let waiting = 0;

  const start = () => {
    following = undefined;
    running = carryOut(options).finally(() => {
      running = undefined;
    });
    return running;
  };

  return async (who, waitMaxMs = WAIT_MAX_MS) => {
    if (waiting >= WAITING_MAX) {
      log.warn({}, 'a reload is not carried out: too many wait');
      return { kind: 'busy' };
    }
    waiting += 1;
    if (running !== undefined) following ??= running.then(start);
    const ended = (following ?? start()).then(async (run) => {
      waiting -= 1;
      await onEnd(run, who);
      return run.end;
    });
    const timer = new AbortController();
    const isLate = sleep(waitMaxMs, undefined, { ref: false, signal: timer.signal });
    const late = isLate.then((): ReloadResult => {
      return { kind: 'running', configVersion: versionOf(inUse()) };
    });
    return await Promise.race([ended, late]).finally(() => timer.abort());
  };
}

async function carryOut<Next>(options: ReloadOptions<Next>): Promise<ReloadRun<Next>> {
  const { readNext, takeOver, inUse, versionOf, log } = options;
  const before = inUse();
  let next: Next;
  try {
    next = await readNext();
  } catch (error) {
    const isWrong = error instanceof ConfigError;
    const problems = isWrong ? error.problems : [String(error)];
    log.error({ problems }, 'reload refused: the node keeps its settings');
    const needsRestart = isWrong ? error.needsRestart : [];
    return { end: { kind: 'refused', problems, needsRestart }, before, after: before };
  }
  try {
    await takeOver(next);
  } catch (error) {
    const problems = [String(error)];
    log.error({ problems }, 'reload failed: the node goes on with its old settings');
    return { end: { kind: 'failed', problems }, before, after: before };
  }
  const configVersion = versionOf(next);
  log.info({ config: configVersion }, 'reloaded');
  return { end: { kind: 'reloaded', configVersion }, before, after: next };
}
