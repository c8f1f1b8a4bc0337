import { expect, it } from 'vitest';
import { createCountReplicas } from '../../src/accounts/count-replicas.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';

type Reply = readonly [Error | null, unknown?];

/** A node that gives these replies to the second command of each pair. */
function connectTo(reply: (command: string) => Promise<Reply>, isCluster = false) {
  const asked: string[] = [];
  const pipeline = () => {
    const commands: string[] = [];
    return {
      call: (name: string) => commands.push(name),
      exec: async () => {
        const command = commands[1] ?? '';
        asked.push(command);
        return [[null, 1], await reply(command)];
      },
    };
  };
  const connection = { client: { pipeline }, isCluster } as unknown as RedisConnection;
  return { count: createCountReplicas(connection), asked };
}

it('a Redis that cannot be asked for replicas is one whose replicas are unknown', async () => {
  const { count } = connectTo(async () => [new Error("ERR unknown command 'role'")]);
  expect(await count('gw:{a}:acct_1')).toBe(0);
});

const ONE_REPLICA: Reply = [null, ['master', 0, [['127.0.0.1', '6379', '0']]]];
const answer = async (command: string): Promise<Reply> =>
  command === 'role' ? ONE_REPLICA : [null, 1];

it('changes that come while a replica is waited for are waited for together', async () => {
  const { count, asked } = connectTo(answer);
  const records = ['gw:{a}:acct_1', 'gw:{b}:acct_2', 'gw:{a}:acct_3', 'gw:{a}:acct_4'];
  expect(await Promise.all(records.map(count))).toEqual([1, 1, 1, 1]);
  expect(asked).toEqual(['role', 'wait', 'role', 'wait']);
  expect(await count('gw:{a}:acct_1')).toBe(1);
  expect(asked).toHaveLength(6);
});

it('a change in a Cluster is not waited for with those of another hash tag', async () => {
  const { count, asked } = connectTo(answer, true);
  const records = ['gw:{a}:acct_1', 'gw:{b}:acct_2', 'gw:{a}:acct_3', 'gw:{a}:acct_4'];
  expect(await Promise.all(records.map(count))).toEqual([1, 1, 1, 1]);
  expect(asked.filter((command) => command === 'wait')).toHaveLength(3);
});
