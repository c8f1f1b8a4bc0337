import { afterAll, beforeAll, expect } from 'vitest';
import { startTestOps, type TestOps } from '../ops/start-test-ops.ts';
import { closeConnections } from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { runHere } from './use-cli.ts';

/**
 * A node's listener for operators, and commands that talk to it. Call this at the top of a file.
 */
export function useAdminCli() {
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });
  const cleanUp = useCleanUp();
  let started: TestOps | undefined;
  beforeAll(async () => {
    started = await startTestOps(await startRedisServer(), cleanUp);
  });

  const ops = () => {
    if (started === undefined) throw new Error('the listener has not started');
    return started;
  };
  /** Only these variables give the address, and the data folder with its token. */
  const env = () => ({ TOLLGATE_ADMIN_URL: ops().url, TOLLGATE_DATA_DIR: ops().dataDir });
  const run = (...args: string[]) => runHere(env(), ...args);
  const runOk = async (...args: string[]) => {
    const { code, out, err } = await run(...args);
    expect([code, err], args.join(' ')).toEqual([0, '']);
    return out;
  };
  const runJson = async (...args: string[]): Promise<Readonly<Record<string, unknown>>> =>
    JSON.parse(await runOk(...args, '--json'));
  const createAccount = async (...more: string[]) => {
    const args = ['--name', 'Acme', '--plan', 'pro', ...more];
    return String((await runJson('account', 'create', ...args))['id']);
  };
  return { ops, env, run, runOk, runJson, createAccount };
}

/** The value that follows a name in a printed table. */
export function cell(out: string, name: string): string {
  return new RegExp(`^${name} +(.*)$`, 'm').exec(out)?.[1] ?? '';
}
