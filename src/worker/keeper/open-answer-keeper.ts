import type { Config } from '../../config/config.ts';
import type { AnswerKeeper } from '../../gateway/answer-keeper.ts';
import { createRecallGuard } from '../../guards/recall-guard.ts';
import type { KeyCheck } from '../../keys/key-check.ts';
import type { RedisTarget } from '../../lib/address/redis-target.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createObserveCommand } from '../../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../../metrics/process-metrics.ts';
import type { ApiKey } from '../../protocol/admission.ts';
import { createAskStore } from '../../quota/ask-store.ts';
import { createBreaker } from '../../redis/breaker.ts';
import { connectRedis } from '../../redis/connect-redis.ts';
import { watchMemory } from '../../redis/watch-memory.ts';
import { createBucketBreakers } from '../create-bucket-breakers.ts';
import { createAnswerKeeper } from './create-answer-keeper.ts';

/** The longest that an answer waits until it is kept. */
const ANSWERS_TIMEOUT_MS = 700;
/** For each key in each worker. */
const REFUSED_PER_MINUTE_MAX = 100;

interface OpenOptions {
  readonly config: Config;
  readonly target: RedisTarget;
  readonly name: string;
  readonly keyCheck: KeyCheck;
  readonly admitFree: (key: ApiKey) => Promise<{ readonly accountId: string }>;
  readonly metrics: ProcessMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenAnswerKeeper {
  /** Undefined if the settings keep nothing. */
  readonly answerKeeper: AnswerKeeper | undefined;
  close(): Promise<void>;
}

/**
 * Answers have a connection and breakers of their own: megabytes of text must not hold up
 * admissions, and what is slow because it is large must not stop them.
 */
export function openAnswerKeeper(options: OpenOptions): OpenAnswerKeeper {
  const { config, target, name, keyCheck, admitFree, metrics, clock, log } = options;
  const terms = config.keptAnswers;
  if (terms === undefined) {
    return { answerKeeper: undefined, close: async () => {} };
  }
  const connection = connectRedis({
    ...{ target, name: `${name}-answers`, commandTimeoutMs: ANSWERS_TIMEOUT_MS, log },
    onCommand: createObserveCommand(metrics, 'answers'),
  });
  const random = Math.random;
  const create = () => createBreaker({ clock, random });
  const breakerOf = createBucketBreakers(target, create(), create);
  const askStore = createAskStore({ breakerOf, random });
  const memory = watchMemory(connection);
  const recalls = createRecallGuard({ perMinuteMax: REFUSED_PER_MINUTE_MAX });
  const parts = { connection, memory, askStore, breakerOf, keyCheck, recalls, admitFree };
  return {
    answerKeeper: createAnswerKeeper({ config, terms, ...parts, metrics, clock }),
    async close() {
      memory.stop();
      await connection.close();
    },
  };
}
