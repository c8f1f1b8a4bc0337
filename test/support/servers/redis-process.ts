import { startLocalRedis } from './start-local-redis.ts';

/** A running server of any origin. Tests treat it as a process of this machine. */
export interface RedisProcess {
  readonly pid: number;
  /** Its output so far. */
  output(): string;
  hasEnded(): boolean;
  signal(name: NodeJS.Signals): void;
  /** SIGKILL also ends a server that a test has frozen. */
  kill(): Promise<void>;
}

/**
 * The only place that decides where servers come from: `npm run test:containers` names an image. A
 * server with its own environment always runs on this machine, since an image lacks the libraries
 * that the environment names.
 */
export async function startRedisProcess(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<RedisProcess> {
  const image = process.env['TEST_REDIS_IMAGE'];
  if (image === undefined || env !== undefined) return startLocalRedis(args, env);
  // Loaded lazily, since loading is slow and most runs do not need it.
  const { startRedisContainer } = await import('../containers/start-redis-container.ts');
  return startRedisContainer(image, args);
}
