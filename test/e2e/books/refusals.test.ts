import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const PER_MINUTE = 3;
const gateway = useGateway({
  config: `${FAST_CONFIG}plans: {starter: ${PER_MINUTE}, team: 1000000}\n`,
});

interface Refusals {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

interface Requests {
  readonly data: readonly {
    readonly id: string;
    readonly refusal: string;
    readonly status: number;
  }[];
}

interface Refused {
  readonly id: string;
  readonly status: number;
}

const refused: Refused[] = [];
let limited: { readonly account: string; readonly keyId: string; readonly count: number };

async function ask(key: string, body: object): Promise<number> {
  const { status, headers } = await askModel(gateway().url, key, body);
  if (status !== 200) refused.push({ id: headers.get('request-id') ?? '', status });
  return status;
}

/** Of each kind some, at once: the books learn of the keys only afterwards. */
beforeAll(async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ plan: 'starter' });
  const { id: keyId, key } = await operator.createKey(account);
  const statuses: number[] = [];
  for (let n = 0; n < PER_MINUTE + 5; n++) statuses.push(await ask(key, messageOf('Hi')));
  limited = { account, keyId, count: statuses.filter((status) => status === 429).length };
  const poor = await operator.createAccount({ credits: 0 });
  await ask((await operator.createKey(poor)).key, messageOf('Hi'));
  const rich = await operator.createAccount();
  const { key: richKey } = await operator.createKey(rich);
  await ask(richKey, { ...messageOf('Hi'), model: 'llm-nowhere' });
  await ask('sk-none', messageOf('Hi'));
});

const list = (query: string) => admin(gateway()).call<Refusals>('GET', `/refusals?${query}`);
const countRefused = () => refused.length;

describe('refused requests', () => {
  it('are counted, each one', async () => {
    await waitUntil(
      async () => (await list('by=refusal')).total >= countRefused(),
      'all are counted',
    );
    const { data, total } = await list('by=refusal');
    expect(total).toBe(countRefused());
    expect(data).toContainEqual({ refusal: 'rate_limited', count: limited.count });
    expect(data).toContainEqual({ refusal: 'balance_too_low', count: 1 });
  });

  it('belong to the account and the key, also when the key is new', async () => {
    const { account, keyId, count } = limited;
    expect(await list(`by=refusal&account=${account}`)).toMatchObject({
      data: [{ refusal: 'rate_limited', count }],
      total: count,
    });
    const { data } = await list('by=key');
    expect(data).toContainEqual(expect.objectContaining({ account, key: keyId, count }));
    const unknown = data.filter((row) => row['account'] === null);
    expect(unknown).toMatchObject([{ key: null }]);
  });

  it('are shown among the requests, and have receipts', async () => {
    const { account, count } = limited;
    const operator = admin(gateway());
    const path = `/requests?outcome=refused&account=${account}`;
    const { data } = await operator.call<Requests>('GET', path);
    expect(data).toHaveLength(count);
    for (const shown of data) {
      expect(refused).toContainEqual({ id: shown.id, status: 429 });
      expect(shown).toMatchObject({ account, refusal: 'rate_limited', model: HAIKU, charged: 0 });
      const receipt = await operator.call('GET', `/requests/${shown.id}`);
      const answered = { status: 429, outcome: 'refused', refusal: 'rate_limited' };
      expect(receipt).toMatchObject({ account, charged: 0, answered, ledger: [] });
    }
    const all = await operator.call<Requests>('GET', '/requests?outcome=refused');
    expect(all.data.map(({ id }) => id).sort()).toEqual(refused.map(({ id }) => id).sort());
  });
});
