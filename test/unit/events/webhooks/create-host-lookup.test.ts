import { expect, it } from 'vitest';
import { createHostLookup } from '../../../../src/events/webhooks/create-host-lookup.ts';
import { holdLookups, IPV4_LOOPBACK } from '../../../support/upstreams/hold-lookups.ts';

it('lookups of webhooks that nobody answers leave a thread to all others of the process', async () => {
  const { asked, answer, giveUp } = holdLookups();
  const lookUp = createHostLookup();
  const failed = expect(lookUp('silent.test')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  const found = Promise.all([lookUp('b.test'), lookUp('b.test')]);
  await Promise.resolve();
  expect(asked).toEqual(['silent.test']);
  giveUp('silent.test');
  await failed;
  await expect.poll(() => asked).toEqual(['silent.test', 'b.test']);
  answer('b.test');
  expect(await found).toEqual([[IPV4_LOOPBACK], [IPV4_LOOPBACK]]);
});
