import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../lib/log.ts';

interface ReloadOptions {
  readonly log: Log;
  readonly carryOut: () => Promise<void>;
  readonly onEnd: (result: 'ok' | 'refused') => void;
}

/** One reload at a time; what is asked for meanwhile is done once more afterwards. */
export function createReload({ log, carryOut, onEnd }: ReloadOptions): () => void {
  let isRunning = false;
  let isAskedAgain = false;
  const run = async () => {
    isRunning = true;
    do {
      isAskedAgain = false;
      try {
        await carryOut();
        log.info({}, 'reloaded');
        onEnd('ok');
      } catch (error) {
        const problems = error instanceof ConfigError ? error.problems : [String(error)];
        log.error({ problems }, 'reload refused: the node goes on as it was');
        onEnd('refused');
      }
    } while (isAskedAgain);
    isRunning = false;
  };
  return () => {
    if (isRunning) isAskedAgain = true;
    else void run();
  };
}
