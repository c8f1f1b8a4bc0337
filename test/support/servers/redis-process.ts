import { startLocalRedis } from './start-local-redis.ts';

/** A server that runs, wherever it comes from: to tests it is a process of this machine. */
export interface RedisProcess {
  readonly pid: number;
  /** What it has printed so far. */
  output(): string;
  hasEnded(): boolean;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL also ends a server that a test has frozen. */
  kill(): Promise<void>;
}

/**
 * The one place that decides where servers come from: `npm run test:containers` names an image. With an environment of
 * its own a server is always that of this machine, since an image has not the libraries that it names.
 */
export async function startRedisProcess(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<RedisProcess> {
  const image = process.env['TEST_REDIS_IMAGE'];
  if (image === undefined || env !== undefined) return startLocalRedis(args, env);
  // Loaded here, since it takes a while and most runs have no use for it.
  const { startRedisContainer } = await import('./start-redis-container.ts');
  return startRedisContainer(image, args);
}
