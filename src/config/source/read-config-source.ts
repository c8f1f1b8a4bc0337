import { readFileSync } from 'node:fs';
import { ConfigError } from '../config-error.ts';
import { ENVIRONMENT_OVERRIDES } from './environment-overrides.ts';
import { namedVariables } from './substitute-variables.ts';

const FILE_BYTES_MAX = 1024 ** 2;

/** Everything that the settings are made from. */
export interface ConfigSource {
  /**
   * Absent if there is no file. The settings then come from the defaults and the environment alone.
   */
  readonly path: string | undefined;
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `configPath` wins over TOLLGATE_CONFIG. Only the `config` folder reads the environment. */
export function readConfigSource(
  configPath: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): ConfigSource {
  const path = configPath ?? (environment['TOLLGATE_CONFIG'] || undefined);
  const text = path === undefined ? '' : readConfigFile(path);
  const names = [...ENVIRONMENT_OVERRIDES.map(({ variable }) => variable), ...namedVariables(text)];
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  return { path, text, env };
}

function readConfigFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new ConfigError([`${path}: cannot be read: ${reasonOf(cause)}`], { cause });
  }
  if (bytes.length > FILE_BYTES_MAX) {
    throw new ConfigError([`${path}: is longer than ${FILE_BYTES_MAX} bytes`]);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError([`${path}: is not UTF-8 text`], { cause });
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a folder',
  };
  return reasons[code] ?? code;
}
