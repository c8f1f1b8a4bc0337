import { ConfigError } from '../../config/config-error.ts';
import { type ConfigSource, readConfigSource } from '../../config/source/read-config-source.ts';
import { describeError } from '../../lib/describe-error.ts';

/** Runs a node until it is told to end, and returns the exit code. `main.ts` passes it in. */
export type RunNode = (options: {
  /** Reads the settings at each call: at the start and at every reload. */
  readonly readSource: () => ConfigSource;
  readonly installsRedis: boolean;
  /** Prints a line for the person who started the node. */
  readonly print: (line: string) => void;
}) => Promise<number>;

interface StartOptions {
  readonly runNode: RunNode;
  readonly configPath: string | undefined;
  /** Whether a missing Redis server may be installed with the system's package manager. */
  readonly installsRedis: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Runs a node until it has drained, and returns the exit code. */
export async function runStartCommand(options: StartOptions): Promise<number> {
  const { runNode, configPath, installsRedis, out, err } = options;
  try {
    return await runNode({
      readSource: () => readConfigSource(configPath),
      installsRedis,
      print: out,
    });
  } catch (error) {
    if (error instanceof ConfigError) for (const problem of error.problems) err(problem);
    else err(`tollgate: ${describeError(error)}`);
    return 1;
  }
}
