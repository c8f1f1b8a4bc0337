import type { TestRedisServer } from './servers/start-redis-server.ts';

/** Moves the ends of sessions or sign-ins, as if this much time had gone by. */
export async function ageTickets(
  redis: Pick<TestRedisServer, 'cli'>,
  key: string,
  ms: number,
): Promise<void> {
  const lines = (await redis.cli('hgetall', key)).split('\n').filter((line) => line !== '');
  for (let at = 0; at < lines.length; at += 2) {
    const [name = '', value = ''] = lines.slice(at, at + 2);
    const [ends, last, ...rest] = value.split(' ');
    const moved = [Number(ends) - ms, Number(last) - ms, ...rest].join(' ');
    await redis.cli('hset', key, name, moved);
  }
}
