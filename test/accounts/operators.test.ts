import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOperatorDirectory } from '../../src/accounts/operators/operator-directory.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
} from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { systemClock } from './use-directory.ts';

const PERSON = { name: 'Ada', role: 'operator' as const };

let redis: TestRedisServer;
const connect = () => openConnection(standalone(tcp(redis.port)));
const open = (connection: Pick<RedisConnection, 'send'> = connect()) =>
  createOperatorDirectory({ connection, randomBytes, clock: systemClock });

beforeAll(async () => {
  redis = await startRedisServer();
});
beforeEach(async () => {
  await redis.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

it('a token that was revoked stays so after a failover that lost it, whichever node begins', async () => {
  const [one, other] = [open(), open()];
  const { operator, token } = await one.createOperator(PERSON);
  const kept = await one.createOperator(PERSON);
  await other.revokeOperator(operator.id);
  await redis.cli('flushall');
  await Promise.all([other.replayRecentWrites(), one.replayRecentWrites()]);
  expect(await other.findOperator(token)).toBeUndefined();
  expect(await other.findOperator(kept.token)).toMatchObject(PERSON);
  const revoked = { id: operator.id, revokedMs: expect.any(Number) };
  expect(await one.listOperators()).toContainEqual(expect.objectContaining(revoked));
});

it('nobody is told that an operator is revoked whom Redis has lost in the meantime', async () => {
  const connection = connect();
  const send: RedisConnection['send'] = async (command, args) => {
    if (command === 'evalsha') await redis.cli('flushall');
    return connection.send(command, args);
  };
  const { operator } = await open(connection).createOperator(PERSON);
  await expect(open({ send }).revokeOperator(operator.id)).rejects.toMatchObject({
    code: 'operator_not_found',
  });
});
