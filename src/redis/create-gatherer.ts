/**
 * FAST TWIN of `src/redis/lua-script.ts`.
 * Held equal by `test/quota/scripts/runs.test.ts`.
 * Gain: 27 to 15 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import type { RedisConnection } from './connect-redis.ts';

/** While a run goes on, the server serves nobody else; five in one take half as much each already. */
export const CALLS_PER_RUN_MAX = 16;
/** A call looks for company in the newest runs only: where no two calls share anything, looking gives nothing. */
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
  /** Whether both can be calls of one run of the script. */
  readonly canShare: (first: Call, call: Call) => boolean;
  /** What the script is told of a call; one for which this throws fails alone. */
  readonly encode: (call: Call) => Each;
  /** `first` shares with all of them what they share. */
  readonly runScript: (first: Call, encoded: readonly Each[]) => Promise<unknown>;
  /** What the reply to a run says of one of its calls. */
  readonly readReply: (reply: unknown, index: number, call: Call) => Reply;
}

/**
 * Makes one run of a script of the calls of one turn of the event loop that share their records: what they share is
 * then read once and written once (`bench/NOTES.md`). All of a run fail together, so each has to be a call that may be
 * repeated.
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
