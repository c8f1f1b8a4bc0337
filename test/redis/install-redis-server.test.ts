import { describe, expect, it } from 'vitest';
import { EmbeddedStartError } from '../../src/redis/server/embedded-start-error.ts';
import { findRedisServer } from '../../src/redis/server/find-redis-server.ts';
import { installRedisServer } from '../../src/redis/server/install-redis-server.ts';
import { type RunCommand, runCommand } from '../../src/redis/server/run-command.ts';

/** Simulates a machine: a command line that starts with the key prints the value. */
function createMachine(answers: Record<string, string | (() => string | undefined)>) {
  const ran: string[] = [];
  const run: RunCommand = async (command) => {
    const line = command.join(' ');
    ran.push(line);
    const key = Object.keys(answers).find((start) =>
      line.replace('sudo -n ', '').startsWith(start),
    );
    const answer = key === undefined ? undefined : answers[key];
    const output = typeof answer === 'function' ? answer() : answer;
    return output === undefined
      ? { exitCode: undefined, output: 'no such program' }
      : { exitCode: output.startsWith('E:') ? 100 : 0, output };
  };
  return { run, ran };
}

const REDIS_7 = 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64';

async function install(answers: Parameters<typeof createMachine>[0], isRoot: boolean) {
  const { run } = createMachine(answers);
  const printed: string[] = [];
  const print = (line: string) => {
    printed.push(line);
  };
  const found = await installRedisServer({ print, run, isRoot }).catch((error: Error) => error);
  const [said, ...commands] = printed;
  return { found, said, printed: commands };
}

describe('finding a server', () => {
  it('finds the one on this machine', async () => {
    const found = await findRedisServer();
    expect(found?.binary).toMatch(/(redis|valkey)-server$/);
    expect(Number.parseInt(found?.version ?? '', 10)).toBeGreaterThanOrEqual(7);
  });

  it('prefers the PATH, and redis-server over valkey-server', async () => {
    const valkey = 'Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64';
    const both = createMachine({ 'redis-server': REDIS_7, 'valkey-server': valkey });
    expect(await findRedisServer(both.run)).toEqual({ binary: 'redis-server', version: '7.0.15' });
    const one = createMachine({ '/usr/bin/redis-server': REDIS_7, 'valkey-server': valkey });
    expect(await findRedisServer(one.run)).toEqual({ binary: 'valkey-server', version: '8.1.1' });
  });

  it('looks into the usual folders, and says nothing when there is none', async () => {
    const brew = createMachine({ '/opt/homebrew/bin/redis-server': REDIS_7 });
    expect((await findRedisServer(brew.run))?.binary).toBe('/opt/homebrew/bin/redis-server');
    expect(await findRedisServer(createMachine({}).run)).toBeUndefined();
  });

  it('refuses an old version with the reason, but takes a newer one elsewhere', async () => {
    const old = { 'redis-server': REDIS_7.replace('7.0.15', '6.2.14') };
    const refused = findRedisServer(createMachine(old).run);
    await expect(refused).rejects.toBeInstanceOf(EmbeddedStartError);
    await expect(refused).rejects.toThrow('redis-server has version 6.2.14, and 7.0 or newer');
    const newer = createMachine({ ...old, '/usr/local/bin/redis-server': REDIS_7 });
    expect((await findRedisServer(newer.run))?.binary).toBe('/usr/local/bin/redis-server');
  });
});

describe('installing a server', () => {
  const apt = {
    'apt-get --version': 'apt 2.6',
    'env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get update': '',
    'env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install': '',
    'redis-server --version': REDIS_7,
  };

  it('updates the lists of apt-get first, starts no service, and prints each command', async () => {
    const { found, printed } = await install(apt, true);
    expect(printed).toEqual([
      'env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get update',
      'env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install --yes --no-install-recommends redis-server',
    ]);
    expect(found).toEqual({ binary: 'redis-server', version: '7.0.15' });
  });

  it('installs from the lists there are when the update fails', async () => {
    const update = {
      'env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get update': 'E: no network',
    };
    expect((await install({ ...apt, ...update }, true)).found).toMatchObject({ version: '7.0.15' });
  });

  it('says that it changes the machine, and how to prevent it, before the first command', async () => {
    const { said } = await install(apt, true);
    expect(said).toMatch(/apt-get installs one now, on this machine; start with --no-install/);
  });

  it('asks for rights without a question when it is not root', async () => {
    const { printed } = await install(apt, false);
    expect(printed).toHaveLength(2);
    expect(printed.every((line) => line.startsWith('sudo -n env DEBIAN_FRONTEND='))).toBe(true);
  });

  it('uses apk, dnf or brew where there is no apt-get', async () => {
    const server = { 'redis-server --version': REDIS_7 };
    const apk = { 'apk --version': 'apk-tools 2.14', 'apk add': '', ...server };
    expect((await install(apk, true)).printed).toEqual(['apk add --no-cache redis']);
    const dnf = { 'dnf --version': '4.14', 'dnf install': '', ...server };
    expect((await install(dnf, true)).printed).toEqual(['dnf install --assumeyes valkey']);
    const brew = { 'brew --version': 'Homebrew 4', 'brew install': '', ...server };
    expect((await install(brew, false)).printed).toEqual(['brew install redis']);
  });

  it('tries the other package when the first does not exist', async () => {
    const { found, printed } = await install(
      {
        'dnf --version': '4.14',
        'dnf install --assumeyes valkey': 'E: no match',
        'dnf install --assumeyes redis': '',
        'redis-server --version': REDIS_7,
      },
      true,
    );
    expect(printed).toEqual(['dnf install --assumeyes valkey', 'dnf install --assumeyes redis']);
    expect(found).toMatchObject({ version: '7.0.15' });
  });

  it('gives one error with the reason and instructions for every system', async () => {
    const failing = { 'apt-get --version': 'apt 2.6', env: 'E: Unable to locate package' };
    for (const [answers, reason] of [
      [failing, 'Unable to locate package'],
      [{}, 'no apt-get, apk, dnf or brew was found'],
      [{ 'apt-get --version': 'apt 2.6' }, 'no such program'],
    ] as const) {
      const { found } = await install(answers, false);
      expect(found).toBeInstanceOf(EmbeddedStartError);
      for (const part of [reason, 'apt-get install', 'apk add', 'dnf install', 'brew install']) {
        expect(String(found)).toContain(part);
      }
    }
  });
});

describe('running a command', () => {
  it('gives the exit code and what was printed, also to stderr', async () => {
    const result = await runCommand(['sh', '-c', 'echo out; echo err >&2; exit 3'], 30_000);
    expect(result.exitCode).toBe(3);
    expect(result.output.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('says that a program does not exist', async () => {
    const { exitCode, output } = await runCommand(['no-such-program-here'], 30_000);
    expect(exitCode).toBeUndefined();
    expect(output).toContain('ENOENT');
  });

  it('ends one that takes too long, and does not wait for one that will not end', async () => {
    const { exitCode, output } = await runCommand(['sleep', '600'], 50);
    expect(exitCode).toBeUndefined();
    expect(output).toContain('ended after 0.05 s');
  });
});
