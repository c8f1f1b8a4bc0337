import { afterAll, expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

afterAll(stopRedisServers);

it('a replica that stands still holds up no other change, nor a question', async () => {
  const master = await startRedisServer();
  const replica = await startRedisServer({ args: ['--replicaof', '127.0.0.1', `${master.port}`] });
  const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${master.port}` };
  const operator = admin(await startGateway({ config: FAST_CONFIG, env }));
  const account = await operator.createAccount();
  const { id } = await operator.createKey(account);
  const pay = (payment: string) =>
    operator.call<{ replicated: number }>('POST', `/accounts/${account}/credits`, {
      ...{ amount: 1, id: payment, note: '' },
    });
  await waitUntil(async () => (await pay('first paid')).replicated === 1, 'the replica follows');

  replica.signal('SIGSTOP');
  const payments = Array.from({ length: 20 }, (_, index) => pay(`while it stands ${index}`));
  const answers = await Promise.all([
    ...payments,
    operator.revoke(id).then(() => operator.key(id)),
    operator.account(account),
  ]);
  replica.signal('SIGCONT');
  expect(answers.slice(0, payments.length)).toEqual(
    payments.map(() => expect.objectContaining({ replicated: 0 })),
  );
  expect(answers.at(-2)).toMatchObject({ status: 'revoked' });
});
