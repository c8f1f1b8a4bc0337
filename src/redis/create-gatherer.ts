/**
 * FAST TWIN of `src/redis/lua-script.ts`.
 * Held equal by `test/quota/scripts/runs.test.ts`.
 * Gain: 27 to 15 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { classifyRedisError } from './classify-redis-error.ts';
import type { RedisConnection } from './connect-redis.ts';

/**
 * During a run the server serves nobody else; sixteen calls take it half a millisecond. Already
 * with five calls in a run each costs half as much.
 */
export const CALLS_PER_RUN_MAX = 16;
/**
 * A call looks for others to share with in the newest runs only. If no two calls share anything,
 * the search is wasted.
 */
const RUNS_SEARCHED_MAX = 8;

/** Calls that share their records. */
interface Group<Call, Each, Reply> {
  readonly calls: Call[];
  readonly encoded: Each[];
  readonly askers: {
    readonly resolve: (reply: Reply) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

interface Run<Call, Each, Reply> {
  readonly first: Call;
  readonly groups: Group<Call, Each, Reply>[];
  size: number;
}

interface GathererOptions<Call, Each, Reply> {
  readonly connection: Pick<RedisConnection, 'atTurnEnd'>;
  /** Whether both calls can go into one run of the script. */
  readonly canShare: (first: Call, call: Call) => boolean;
  /** Whether both calls share their records, if they can go into one run. */
  readonly isAlike: (first: Call, call: Call) => boolean;
  /**
   * The arguments of the script for one call. Calls that share their records follow each other, and
   * only the first of them says which these are. If this throws, only that call fails.
   */
  readonly encode: (call: Call, isFirst: boolean) => Each;
  /** `first` has everything that the calls of the run share. */
  readonly runScript: (first: Call, encoded: readonly Each[]) => Promise<unknown>;
  /** Reads the part of the run's reply that answers one of its calls. */
  readonly readReply: (reply: unknown, index: number, call: Call) => Reply;
}

/**
 * Gathers the calls of one turn of the event loop into runs of a script. Records that calls share
 * are then read once and written once, and what a run costs by itself is paid once
 * (`bench/NOTES.md`). All calls of a run fail together, so each must be safe to repeat. If a record
 * cannot be read, the calls that share other records run again without it.
 */
export function createGatherer<Call, Each, Reply>(
  options: GathererOptions<Call, Each, Reply>,
): (call: Call) => Promise<Reply> {
  const { connection, canShare, isAlike, encode, runScript, readReply } = options;
  let runs: Run<Call, Each, Reply>[] = [];

  /** A run in which others share the records of the call, else any that it can go into. */
  const findRun = (call: Call): Run<Call, Each, Reply> | undefined => {
    const oldest = Math.max(0, runs.length - RUNS_SEARCHED_MAX);
    let found: Run<Call, Each, Reply> | undefined;
    for (let i = runs.length - 1; i >= oldest; i--) {
      const run = runs[i] as Run<Call, Each, Reply>;
      if (run.size >= CALLS_PER_RUN_MAX || !canShare(run.first, call)) continue;
      if (findGroup(run, call) !== undefined) return run;
      found ??= run;
    }
    return found;
  };

  const findGroup = ({ groups }: Run<Call, Each, Reply>, call: Call) => {
    for (const group of groups) if (isAlike(group.calls[0] as Call, call)) return group;
    return undefined;
  };

  const send = ({ first, groups }: Run<Call, Each, Reply>) => {
    const fail = (error: unknown) => {
      for (const { askers } of groups) for (const { reject } of askers) reject(error);
    };
    const answer = (reply: unknown) => {
      let index = 0;
      for (const group of groups) {
        answerGroup(group, reply, index, readReply);
        index += group.calls.length;
      }
    };
    const tryAgain = (error: unknown) => {
      if (groups.length === 1 || classifyRedisError(error) !== 'fault') fail(error);
      else for (const group of groups) send(runOf(group));
    };
    try {
      const [only] = groups as [Group<Call, Each, Reply>];
      const all = groups.length === 1 ? only.encoded : groups.flatMap(({ encoded }) => encoded);
      runScript(first, all).then(answer, tryAgain);
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
      const run = findRun(call);
      const group = run && findGroup(run, call);
      const each = encode(call, group === undefined);
      if (group !== undefined) {
        group.calls.push(call);
        group.encoded.push(each);
        group.askers.push(asker);
      } else if (run !== undefined) {
        run.groups.push({ calls: [call], encoded: [each], askers: [asker] });
      }
      if (run !== undefined) {
        run.size++;
        return;
      }
      if (runs.length === 0) connection.atTurnEnd(sendAll);
      runs.push(runOf({ calls: [call], encoded: [each], askers: [asker] }));
    });
}

function answerGroup<Call, Each, Reply>(
  { calls, askers }: Group<Call, Each, Reply>,
  reply: unknown,
  start: number,
  readReply: GathererOptions<Call, Each, Reply>['readReply'],
): void {
  for (let i = 0; i < calls.length; i++) {
    try {
      askers[i]?.resolve(readReply(reply, start + i, calls[i] as Call));
    } catch (error) {
      askers[i]?.reject(error);
    }
  }
}

function runOf<Call, Each, Reply>(group: Group<Call, Each, Reply>): Run<Call, Each, Reply> {
  return { first: group.calls[0] as Call, groups: [group], size: group.calls.length };
}
