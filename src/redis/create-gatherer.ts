/**
 * FAST TWIN of `src/redis/lua-script.ts`.
 * Held equal by `test/quota/scripts/runs.test.ts`.
 * Gain: 27 to 15 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import type { RedisConnection } from './connect-redis.ts';

/**
 * During a run the server serves nobody else. Already with five calls in a run each costs half as
 * much.
 */
export const CALLS_PER_RUN_MAX = 16;
/**
 * A call looks for company in the newest runs only. If no two calls share anything, looking is
 * wasted.
 */
const RUNS_LOOKED_AT_MAX = 8;

interface Run<Call, Each, Reply> {
  readonly calls: Call[];
  readonly encoded: Each[];
  readonly askers: {
    readonly resolve: (reply: Reply) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

interface GathererOptions<Call, Each, Reply> {
  readonly connection: Pick<RedisConnection, 'atTurnEnd'>;
  /** Whether both calls can go into one run of the script. */
  readonly canShare: (first: Call, call: Call) => boolean;
  /** The arguments of the script for one call. If this throws, only that call fails. */
  readonly encode: (call: Call) => Each;
  /** `first` has everything that the calls of the run share. */
  readonly runScript: (first: Call, encoded: readonly Each[]) => Promise<unknown>;
  /** Reads the part of the run's reply that answers one of its calls. */
  readonly readReply: (reply: unknown, index: number, call: Call) => Reply;
}

/**
 * Gathers the calls of one turn of the event loop that share their records into one run of a
 * script. The shared records are then read once and written once (`bench/NOTES.md`). All calls of a
 * run fail together, so each must be safe to repeat.
 */
export function createGatherer<Call, Each, Reply>(
  options: GathererOptions<Call, Each, Reply>,
): (call: Call) => Promise<Reply> {
  const { connection, canShare, encode, runScript, readReply } = options;
  let runs: Run<Call, Each, Reply>[] = [];

  const findRun = (call: Call): Run<Call, Each, Reply> | undefined => {
    const oldest = Math.max(0, runs.length - RUNS_LOOKED_AT_MAX);
    for (let i = runs.length - 1; i >= oldest; i--) {
      const run = runs[i] as Run<Call, Each, Reply>;
      if (canShare(run.calls[0] as Call, call) && run.calls.length < CALLS_PER_RUN_MAX) return run;
    }
    return undefined;
  };

  const send = ({ calls, encoded, askers }: Run<Call, Each, Reply>) => {
    const fail = (error: unknown) => {
      for (const { reject } of askers) reject(error);
    };
    const answer = (reply: unknown) => {
      for (let i = 0; i < calls.length; i++) {
        try {
          askers[i]?.resolve(readReply(reply, i, calls[i] as Call));
        } catch (error) {
          askers[i]?.reject(error);
        }
      }
    };
    try {
      runScript(calls[0] as Call, encoded).then(answer, fail);
    } catch (error) {
      fail(error);
    }
  };

  const sendAll = () => {
    const ended = runs;
    runs = [];
    for (const run of ended) send(run);
  };

  return (call) =>
    new Promise((resolve, reject) => {
      const asker = { resolve, reject };
      const each = encode(call);
      const run = findRun(call);
      if (run !== undefined) {
        run.calls.push(call);
        run.encoded.push(each);
        run.askers.push(asker);
        return;
      }
      if (runs.length === 0) connection.atTurnEnd(sendAll);
      runs.push({ calls: [call], encoded: [each], askers: [asker] });
    });
}
