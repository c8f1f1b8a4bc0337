import { ConfigError } from '../../config/config-error.ts';
import { maskSettings, printSettings } from '../../config/mask-settings.ts';
import { parseConfig } from '../../config/parse-config.ts';
import { readConfigSource } from '../../config/source/read-config-source.ts';

interface CheckOptions {
  readonly configPath: string | undefined;
  readonly json: boolean;
  /** Both print whole lines and end the last one. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Prints the effective settings without their secrets, or every problem. Returns the exit code. */
export function runCheckCommand({ configPath, json, out, err }: CheckOptions): number {
  try {
    const config = parseConfig(readConfigSource(configPath));
    out(
      json ? JSON.stringify(maskSettings(config), undefined, 2) : printSettings(config).trimEnd(),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    if (json) out(JSON.stringify({ problems }, undefined, 2));
    else for (const problem of problems) err(problem);
    return 1;
  }
}
