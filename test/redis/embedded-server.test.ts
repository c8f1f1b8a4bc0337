import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import {
  type EmbeddedServer,
  startEmbeddedServer,
} from '../../src/redis/server/embedded-server.ts';
import { EmbeddedStartError } from '../../src/redis/server/embedded-start-error.ts';
import { isAlive } from '../support/is-alive.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { makeTempFolder, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const started: EmbeddedServer[] = [];

afterEach(async () => {
  await closeConnections();
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await stopRedisServers();
});

async function start(dataDir: string) {
  const log = createMemoryLog();
  const givenUp: Error[] = [];
  const onGiveUp = (error: Error) => {
    givenUp.push(error);
  };
  const server = await startEmbeddedServer({ dataDir, log, onGiveUp });
  started.push(server);
  const connection = openConnection(unixRedisTarget(server.socketPath));
  await waitForRedis(connection);
  return { server, log, givenUp, connection };
}

function appendOnlyFiles(dataDir: string): string[] {
  const dir = join(dataDir, 'redis', 'appendonlydir');
  return readdirSync(dir).map((name) => join(dir, name));
}

describe('the embedded server', () => {
  it('listens on a socket in the data folder that only its owner may use, and on no port', async () => {
    const dataDir = join(makeTempFolder(), 'data');
    const { server, connection } = await start(dataDir);
    const path = join(dataDir, 'redis.sock');
    expect(server.socketPath).toBe(path);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(dataDir).mode & 0o077).toBe(0);
    for (const [name, value] of [
      ['port', '0'],
      ['appendonly', 'yes'],
      ['appendfsync', 'always'],
      ['maxmemory-policy', 'noeviction'],
      ['save', ''],
      ['dir', join(dataDir, 'redis')],
    ] as const) {
      expect(await connection.send('config', ['get', name])).toEqual([name, value]);
    }
  });

  it('keeps its data over a stop and a start', async () => {
    const dataDir = makeTempFolder();
    const first = await start(dataDir);
    await first.connection.send('set', ['balance', '42']);
    await first.server.stop();
    expect(isAlive(first.server.pid)).toBe(false);
    const second = await start(dataDir);
    expect(second.server.pid).not.toBe(first.server.pid);
    expect(await second.connection.send('get', ['balance'])).toBe('42');
  });

  it('comes back with every acknowledged write when it is killed', async () => {
    const { server, connection, log, givenUp } = await start(makeTempFolder());
    const killed = server.pid;
    let acknowledged = 0;
    let isDown = false;
    const writing = (async () => {
      while (!isDown) {
        await connection.send('incr', ['writes']).then(
          () => {
            acknowledged += 1;
          },
          () => {
            isDown = true;
          },
        );
      }
    })();
    await waitUntil(() => acknowledged >= 200, 'many writes are acknowledged');
    process.kill(killed, 'SIGKILL');
    await writing;
    await waitForRedis(connection);
    expect(server.pid).not.toBe(killed);
    const survived = Number(await connection.send('get', ['writes']));
    // The server may have executed the write that was in progress when it died.
    expect([acknowledged, acknowledged + 1]).toContain(survived);
    expect(givenUp).toEqual([]);
    // The server answers this connection slightly before its supervisor has seen an answer.
    await waitUntil(() => log.lines.length >= 3, 'the supervisor has said what happened');
    expect(log.lines.map((line) => line.message)).toEqual([
      'Redis started',
      'Redis has died',
      'Redis is running again',
    ]);
    expect(log.lines[1]?.fields['reason']).toContain('SIGKILL');
  });

  it('has a process group of its own, out of reach of Ctrl-C in a terminal', async () => {
    const { server } = await start(makeTempFolder());
    const ps = spawn('ps', ['-o', 'pgid=', '-p', `${server.pid}`]);
    let group = '';
    ps.stdout.on('data', (data) => {
      group += String(data);
    });
    await once(ps, 'close');
    expect(Number(group)).toBe(server.pid);
  });

  it('ends a server that an earlier run left behind, and has all of its data', async () => {
    const dataDir = makeTempFolder();
    const dir = join(dataDir, 'redis');
    mkdirSync(dir);
    const path = join(dataDir, 'redis.sock');
    const leftover = spawn(
      'redis-server',
      ['--port', '0', '--unixsocket', path, '--dir', dir, '--appendonly', 'yes', '--save', ''],
      { stdio: 'ignore' },
    );
    const ended = once(leftover, 'exit');
    try {
      const endpoint = { kind: 'unix', path } as const;
      const auth = { username: undefined, password: undefined };
      const before = openConnection({
        ...{ topology: 'standalone', endpoint, tls: false, auth, database: 0 },
      });
      await waitForRedis(before);
      await before.send('set', ['balance', '77']);
      const { server, connection, log } = await start(dataDir);
      await ended;
      expect(server.pid).not.toBe(leftover.pid);
      expect(await connection.send('get', ['balance'])).toBe('77');
      expect(log.lines[0]?.message).toContain('left behind');
    } finally {
      leftover.kill('SIGKILL');
    }
  });

  it('starts where a killed run left only its socket', async () => {
    const dataDir = makeTempFolder();
    const path = join(dataDir, 'redis.sock');
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', script]), 'exit');
    expect(statSync(path).isSocket()).toBe(true);
    await start(dataDir);
  });

  it('gives up when the server dies again and again, and says why', async () => {
    const dataDir = makeTempFolder();
    const { server, connection, givenUp } = await start(dataDir);
    await connection.send('set', ['balance', '1']);
    for (const file of appendOnlyFiles(dataDir)) writeFileSync(file, 'this is no such file\n');
    process.kill(server.pid, 'SIGKILL');
    await waitUntil(() => givenUp.length > 0, 'it gives up');
    expect(givenUp).toHaveLength(1);
    expect(givenUp[0]?.message).toMatch(/died 5 times in a row/);
    expect(givenUp[0]?.message).toMatch(/manifest|AOF/);
    await server.stop();
  });

  it('can be stopped while it waits to start the server again', async () => {
    const dataDir = makeTempFolder();
    const { server, log } = await start(dataDir);
    process.kill(server.pid, 'SIGKILL');
    await waitUntil(() => log.lines.some(({ message }) => message.includes('died')), 'it has died');
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await start(dataDir);
  });

  it('ends a server that does not react to SIGTERM', async () => {
    const { server } = await start(makeTempFolder());
    process.kill(server.pid, 'SIGSTOP');
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});

describe('the embedded server cannot start', () => {
  const failureOf = async (dataDir: string) => {
    const error = await start(dataDir).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EmbeddedStartError);
    return (error as Error).message;
  };

  it('when the path of its socket is too long for the system', async () => {
    const dataDir = join(makeTempFolder(), 'x'.repeat(100));
    expect(await failureOf(dataDir)).toContain('Choose a data folder with a shorter path');
  });

  it('when its data are damaged, with the last words of the server', async () => {
    const dataDir = makeTempFolder();
    const first = await start(dataDir);
    await first.server.stop();
    const manifest = appendOnlyFiles(dataDir).find((file) => file.endsWith('.manifest')) ?? '';
    writeFileSync(manifest, 'this is no manifest\n');
    expect(await failureOf(dataDir)).toMatch(/exit code 1, after saying:\n[\s\S]*manifest/);
    expect(readFileSync(manifest, 'utf8')).toBe('this is no manifest\n');
  });

  it('when something holds the socket and does not answer', async () => {
    const dataDir = makeTempFolder();
    const silent = createServer(() => {}).listen(join(dataDir, 'redis.sock'));
    await once(silent, 'listening');
    expect(await failureOf(dataDir)).toContain('does not end');
    silent.close();
  });
});
