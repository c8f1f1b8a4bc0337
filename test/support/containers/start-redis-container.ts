import { tmpdir } from 'node:os';
import { GenericContainer, getContainerRuntimeClient } from 'testcontainers';
import { isAlive } from '../is-alive.ts';
import type { RedisProcess } from '../servers/redis-process.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * Runs the server of an image in a container that shares the network, the temporary folder and the
 * user of the tests. Ports, sockets, data and signals then work as with a local server. This needs
 * Linux.
 */
export async function startRedisContainer(
  image: string,
  args: readonly string[],
): Promise<RedisProcess> {
  let output = '';
  const container = await new GenericContainer(image)
    .withEntrypoint([image.includes('valkey') ? 'valkey-server' : 'redis-server'])
    .withCommand([...args])
    .withNetworkMode('host')
    .withBindMounts([{ source: tmpdir(), target: tmpdir() }])
    .withUser(`${process.getuid?.()}:${process.getgid?.()}`)
    .withLogConsumer((stream) => {
      stream.on('data', (data) => {
        output += String(data);
      });
    })
    .start();
  const { container: engine } = await getContainerRuntimeClient();
  const { State: state } = await engine.inspect(engine.getById(container.getId()));
  const pid = state.Pid;
  // The engine reports 0 for a container that has already ended, and a signal to 0 would reach the
  // tests themselves.
  let isOver = pid === 0;
  // Read only once: the system may soon give the number to another process.
  const hasEnded = () => {
    isOver ||= !isAlive(pid);
    return isOver;
  };
  let removal: Promise<unknown> | undefined;
  const signal = (name: NodeJS.Signals) => {
    if (!hasEnded()) process.kill(pid, name);
  };
  return {
    pid,
    output: () => output,
    hasEnded,
    signal,
    async kill() {
      signal('SIGKILL');
      await waitUntil(hasEnded, `the server of ${image} ends`);
      removal ??= container.stop();
      await removal;
    },
  };
}
