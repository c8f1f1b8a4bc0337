import { expect, it } from 'vitest';
import { createAdmitByUser } from '../../../src/quota/create-admit-by-user.ts';
import type { AdmitArguments, AdmitReply } from '../../../src/quota/scripts/admit.ts';

function setUp(replies: readonly AdmitReply['kind'][]) {
  const users: string[] = [];
  const left = [...replies];
  const admitByUser = createAdmitByUser({
    async admit({ user }) {
      users.push(user);
      return { kind: left.shift() ?? 'finished' } as AdmitReply;
    },
    digestEndUser: (name) => `digest of ${name}`,
  });
  const order = { keyId: 'key1', user: '' } as AdmitArguments;
  return { ask: (name: string) => admitByUser(order, name), users };
}

it('an end user is told only to a store that asks, once for each key', async () => {
  const { ask, users } = setUp(['finished', 'finished', 'name_user']);
  await ask('');
  await ask('ada');
  expect(await ask('ada')).toEqual({ kind: 'finished' });
  expect(await ask('bob')).toEqual({ kind: 'finished' });
  await ask('');
  expect(users).toEqual(['', '?', '?', 'digest of ada', 'digest of bob', '']);
});
