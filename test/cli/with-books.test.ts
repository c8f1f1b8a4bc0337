import dns from 'node:dns';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { runHere } from './use-cli.ts';

/** Nobody listens there. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
const URL_OF_BOOKS = 'postgres://me:top@books.test:1/tollgate?sslmode=disable';

it('tells why books with several addresses cannot be reached', async () => {
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((...args: unknown[]) => {
    const answer = args.at(-1) as (error: null, addresses: typeof ADDRESSES) => void;
    answer(null, ADDRESSES);
  }) as unknown as typeof dns.lookup);
  const dir = createTempDir();
  const config = join(dir, 'tollgate.yaml');
  writeFileSync(config, `data_dir: ${dir}\nbooks: {url: "${URL_OF_BOOKS}"}\n`);
  const run = await runHere({}, 'ledger', 'verify', '--config', config).finally(() => {
    spy.mockRestore();
  });
  const reasons = ADDRESSES.map(({ address }) => `connect ECONNREFUSED ${address}:1`);
  expect(run).toEqual({ code: 1, out: '', err: `tollgate: ${reasons.join('; ')}\n` });
});
