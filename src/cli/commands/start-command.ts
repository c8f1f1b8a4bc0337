import { ConfigError } from '../../config/config-error.ts';
import { readConfigSource } from '../../config/source/read-config-source.ts';
import { runPrimary } from '../../primary/run-primary.ts';

interface StartOptions {
  readonly configPath: string | undefined;
  /** Whether a missing Redis server may be installed with the system's package manager. */
  readonly installsRedis: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Runs a node until it has drained; answers the exit code. */
export async function runStartCommand(options: StartOptions): Promise<number> {
  const { configPath, installsRedis, out, err } = options;
  try {
    return await runPrimary({
      readSource: () => readConfigSource(configPath),
      installsRedis,
      print: out,
    });
  } catch (error) {
    if (error instanceof ConfigError) for (const problem of error.problems) err(problem);
    else err(`tollgate: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}
