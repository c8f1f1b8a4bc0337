import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Aim, aimAt } from './aim.ts';
import { driveLoad } from './drive-load.ts';
import { readResidentBytes } from './figures/cpu-times.ts';
import { measureRound, type Subject } from './figures/measure-round.ts';
import type { Figures, Round } from './figures/round.ts';
import { sumUpRounds } from './figures/sum-up-rounds.ts';
import { probe } from './probe.ts';
import type { Case, Contestant, Drive, Load, Running, Stage } from './scenario.ts';
import { startUpstream } from './upstream/start-upstream.ts';

/** Per connection, because each connection loses the request in progress when a round ends. */
const ANSWERS_PER_ROUND_MIN = 3;
const MS_PER_SECOND = 1_000;
/**
 * Used if the load itself would not take a contestant to its limit: one round to warm up, one to
 * find the limit.
 */
const WARM_UP: Drive = { kind: 'closed-loop', generator: 'wrk', connections: 64 };

export interface CaseResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, Figures>>;
}

export interface Turns {
  readonly dir: string;
  readonly seconds: number;
  /** Runs before the first case. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  tell(line: string): void;
}

interface Entrant {
  readonly name: string;
  readonly dir: string;
  readonly running: Running | undefined;
  readonly idleBytes: number;
  /** Why the contestant does not take part. */
  readonly failure: string | undefined;
}

/** All contestants run at the same time and take turns: A B C A B C. */
export async function runStage(
  { answer, contestants, cases }: Stage,
  wanted: Turns,
): Promise<CaseResult[]> {
  const secondsMin = Math.ceil((ANSWERS_PER_ROUND_MIN * answer.latencyMs) / MS_PER_SECOND);
  const turns = { ...wanted, seconds: Math.max(wanted.seconds, secondsMin) };
  const upstream = await startUpstream(answer);
  const entrants: Entrant[] = [];
  const results: CaseResult[] = [];
  try {
    for (const contestant of contestants) {
      const dir = join(turns.dir, contestant.name.replaceAll(/\W+/g, '-'));
      mkdirSync(dir, { recursive: true });
      entrants.push(await enter(contestant, dir, upstream.port));
    }
    for (const each of cases) {
      const players = entrants.map((entrant) => {
        const aim = entrant.running && aimAt(entrant.running, each, answer, entrant.dir);
        return createPlayer(entrant, aim, each, upstream.pid, turns);
      });
      // Engines compile code that has run often. Only after this long does each round cost the same
      // as the last.
      const warmUpSeconds = Math.max(turns.seconds, results.length === 0 ? turns.warmUpSeconds : 0);
      for (const [index, player] of players.entries()) {
        const isCompiled = contestants[index]?.isCompiled === true;
        await player.prepare(isCompiled ? turns.seconds : warmUpSeconds);
      }
      const drive = chooseDrive(each.load, players);
      for (let round = 1; round <= turns.rounds; round++) {
        for (const player of players) await player.play(round, drive);
      }
      const figures = players.map(({ name, sumUp }) => [name, sumUp()] as const);
      results.push({ name: each.name, figures: Object.fromEntries(figures) });
    }
    return results;
  } finally {
    await Promise.all(entrants.map(({ running }) => running?.stop()));
    await upstream.stop();
  }
}

async function enter(contestant: Contestant, dir: string, upstreamPort: number): Promise<Entrant> {
  const { name } = contestant;
  try {
    const running = await contestant.start({ dir, upstreamPort });
    return { name, dir, running, idleBytes: readResidentBytes(running.pids()), failure: undefined };
  } catch (error) {
    const failure = `did not start: ${(error as Error).message}`;
    return { name, dir, running: undefined, idleBytes: 0, failure };
  }
}

interface Player {
  readonly name: string;
  /** Checks that the contestant answers as it should, and warms it up. */
  prepare(warmUpSeconds: number): Promise<void>;
  /** The rate that the contestant reached. Undefined if it does not take part. */
  reachedPerSecond(): number | undefined;
  play(round: number, drive: Drive): Promise<void>;
  sumUp(): Figures;
}

function chooseDrive(load: Load, players: readonly Player[]): Drive {
  if (load.kind !== 'share-of-slowest') return load;
  const reached = players.flatMap(({ reachedPerSecond }) => reachedPerSecond() ?? []);
  const ratePerSecond = Math.max(Math.round(load.share * Math.min(...reached, Infinity)), 1);
  return { kind: 'fixed-rate', ratePerSecond, connectionsMax: load.connectionsMax };
}

function createPlayer(
  { name, running, idleBytes, failure: startFailure }: Entrant,
  aim: Aim | undefined,
  { name: caseName, load }: Case,
  upstreamPid: number,
  { seconds, rounds: roundsMax, tell }: Turns,
): Player {
  const rounds: Round[] = [];
  let reachedPerSecond: number | undefined;
  let failure = startFailure ?? (aim === undefined ? 'does not serve this format' : undefined);

  const attempt = async (act: (subject: Subject, aim: Aim) => Promise<void>) => {
    if (failure !== undefined || running === undefined || aim === undefined) return;
    try {
      await act({ running, upstreamPid, idleBytes }, aim);
    } catch (error) {
      failure = (error as Error).message;
    }
    if (failure !== undefined) tell(`${caseName}, ${name}: ${failure}`);
  };

  return {
    name,
    prepare: (warmUpSeconds) =>
      attempt(async (subject, at) => {
        await probe(at);
        // Code that has not run yet is slow.
        for (const drive of load.kind === 'share-of-slowest' ? [WARM_UP, WARM_UP] : [load]) {
          const round = await measureRound(subject, (meter) =>
            driveLoad(at, drive, warmUpSeconds, meter),
          );
          reachedPerSecond = round.unitsPerSecond;
        }
      }),
    reachedPerSecond: () => (failure === undefined ? reachedPerSecond : undefined),
    play: (number, drive) =>
      attempt(async (subject, at) => {
        const round = await measureRound(subject, (meter) => driveLoad(at, drive, seconds, meter));
        rounds.push(round);
        const noise = round.isNoisy
          ? `, ${round.foreignCores.toFixed(2)} cores in other hands`
          : '';
        const figures = `${round.cpuMicros.toFixed(1)} us, ${Math.round(round.unitsPerSecond)}/s`;
        const wrong = round.failures > 0 ? `, ${round.failures} failures` : '';
        tell(`${caseName}, ${name}, ${number}/${roundsMax}: ${figures}${wrong}${noise}`);
      }),
    sumUp: () => sumUpRounds(rounds, failure),
  };
}
