import { join } from 'node:path';
import { EmbeddedStartError } from './embedded-start-error.ts';
import { type RunCommand, runCommand } from './run-command.ts';

const NAMES = ['redis-server', 'valkey-server'];
/**
 * The empty name stands for the PATH. The other folders are often missing from the PATH of a
 * service.
 */
const FOLDERS = ['', '/usr/bin', '/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin'];
/**
 * The first version with flags in the first line of scripts and with append-only files in parts.
 */
const MAJOR_VERSION_MIN = 7;
const VERSION_TIMEOUT_MS = 5_000;

export interface RedisServerBinary {
  /** A name on the PATH or a full path. */
  readonly binary: string;
  readonly version: string;
}

/** Throws if every server on this machine is too old. Undefined if there is no server. */
export async function findRedisServer(
  run: RunCommand = runCommand,
): Promise<RedisServerBinary | undefined> {
  let tooOld: RedisServerBinary | undefined;
  for (const folder of FOLDERS) {
    for (const name of NAMES) {
      const binary = folder === '' ? name : join(folder, name);
      const { exitCode, output } = await run([binary, '--version'], VERSION_TIMEOUT_MS);
      const version = /\bv=(\d+\.\d+\.\d+)/.exec(output)?.[1];
      if (exitCode !== 0 || version === undefined) continue;
      if (Number.parseInt(version, 10) >= MAJOR_VERSION_MIN) return { binary, version };
      tooOld ??= { binary, version };
    }
  }
  if (tooOld !== undefined) {
    throw new EmbeddedStartError(
      `${tooOld.binary} has version ${tooOld.version}, and ${MAJOR_VERSION_MIN}.0 or newer is needed. ` +
        'Install a newer redis-server or valkey-server, or set redis.url to one that runs elsewhere.',
    );
  }
  return undefined;
}
