import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../lib/log.ts';

/** One reload at a time; what is asked for meanwhile is done once more afterwards. */
export function createReload(log: Log, carryOut: () => Promise<void>): () => void {
  let isRunning = false;
  let isAskedAgain = false;
  const run = async () => {
    isRunning = true;
    do {
      isAskedAgain = false;
      try {
        await carryOut();
        log.info({}, 'reloaded');
      } catch (error) {
        const problems = error instanceof ConfigError ? error.problems : [String(error)];
        log.error({ problems }, 'reload refused: the node goes on as it was');
      }
    } while (isAskedAgain);
    isRunning = false;
  };
  return () => {
    if (isRunning) isAskedAgain = true;
    else void run();
  };
}
