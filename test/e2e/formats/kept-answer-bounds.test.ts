import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';

const MODEL = 'llm-haiku-4.5';
const SETTINGS = 'kept_answers: {answer_bytes: 8KiB, account_bytes: 24KiB, total_bytes: 16MiB}\n';
/** The guard counts for a minute, so requests are sent together: five more than it lets through. */
const BLOCK = 15;
const BLOCKS = 7;
const cleanUp = useCleanUp();
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ config: `workers: 1\n${FAST_UPSTREAM}${SETTINGS}`, cleanUp });
});
async function connectAnew(controls: object = {}) {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 10 });
  const { key } = await operator.createKey(account, controls);
  return new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

/** Asks the same many times, and returns what was said to those that were refused. */
async function collectRefusals(
  client: OpenAI,
  asked: { readonly model: string; readonly input: string; readonly previous_response_id: string },
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const refused: string[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    await Promise.all(
      Array.from({ length: BLOCK }, () =>
        client.responses.create(asked).catch((error) => refused.push(String(error.message))),
      ),
    );
    await between();
  }
  return refused;
}

const isThere = (asked: Promise<unknown>) =>
  asked.then(
    () => true,
    (error) => {
      expect(error).toMatchObject({ status: 404 });
      return false;
    },
  );

describe('answers that are kept', () => {
  it('lose what was asked before they go themselves, oldest first, and spare other accounts', async () => {
    const client = await connectAnew();
    const neighbour = await connectAnew();
    const other = await neighbour.responses.create({ model: MODEL, input: 'Mine' });
    const ask = async (input: string) => {
      const made = await client.responses.create({ model: MODEL, input });
      expect(made).toMatchObject({ store: true });
      return made;
    };
    const made: Awaited<ReturnType<typeof ask>>[] = [];
    for (let i = 0; i < 8; i++) made.push(await ask('x'.repeat(5_000)));
    const whole = await Promise.all(made.map(({ id }) => isThere(client.responses.retrieve(id))));
    expect(whole.at(-1)).toBe(true);
    expect(whole.indexOf(true)).toBe(whole.lastIndexOf(false) + 1);
    expect(whole.filter(Boolean).length).toBeLessThan(5);
    // Their items are still there, but no conversation can begin with them.
    const [oldest] = made;
    const refer = (id = '') =>
      client.responses.create({
        ...{ model: MODEL, store: false },
        input: [
          { type: 'item_reference', id },
          { role: 'user', content: 'Go on' },
        ],
      });
    await refer(oldest?.output[0]?.id);
    await expect(
      client.responses.create({ model: MODEL, input: 'x', previous_response_id: oldest?.id ?? '' }),
    ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
    for (let i = 0; i < 8; i++) made.push(await ask('[[tokens 1000]]'));
    await expect(refer(oldest?.output[0]?.id)).rejects.toMatchObject({ status: 400 });
    await refer(made.at(-1)?.output[0]?.id);
    expect((await neighbour.responses.retrieve(other.id)).id).toBe(other.id);
    const metrics = await scrape(gateway);
    expect(metrics.sum('tollgate_answers_kept_bytes', {})).toBeGreaterThan(10_000);
  });

  it('are kept without what was asked if that is too large, and not at all if they are', async () => {
    const client = await connectAnew();
    const made = await client.responses.create({ model: MODEL, input: 'x'.repeat(9_000) });
    expect(made).toMatchObject({ store: true });
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const item = { type: 'item_reference' as const, id: made.output[0]?.id ?? '' };
    await client.responses.create({ model: MODEL, input: [item, { role: 'user', content: 'x' }] });
    const large = await client.responses.create({ model: MODEL, input: '[[tokens 4000]]' });
    expect(large).toMatchObject({ store: false });
    const metrics = await scrape(gateway);
    expect(metrics.sum('tollgate_answers_kept_total', { outcome: 'too_large' })).toBe(1);
  });

  it('are kept with what their own request brought, however long the conversation is', async () => {
    const client = await connectAnew();
    let previous: string | undefined;
    for (let step = 1; step <= 5; step++) {
      const made = await client.responses.create({
        ...{ model: MODEL, input: 'x'.repeat(3_000) },
        ...(previous !== undefined && { previous_response_id: previous }),
      });
      expect((await client.responses.retrieve(made.id)).id).toBe(made.id);
      previous = made.id;
    }
  });

  it('are not read again and again for requests that are refused', async () => {
    const client = await connectAnew({ rpm: 1 });
    const made = await client.responses.create({ model: MODEL, input: 'Hello' });
    const asked = { model: MODEL, input: 'x', previous_response_id: made.id };
    const refused = await collectRefusals(client, asked);
    expect(refused.length).toBe(BLOCKS * BLOCK);
    expect(refused.filter((text) => text.includes('refer to earlier answers')).length).toBe(5);
  });

  it('are not read again and again beside requests that are admitted', async () => {
    const client = await connectAnew();
    const made = await client.responses.create({ model: MODEL, input: 'Hello' });
    const asked = { model: 'nothing', input: 'x', previous_response_id: made.id };
    const refused = await collectRefusals(client, asked, async () => {
      await client.responses.create({ model: MODEL, input: 'x', store: false });
    });
    expect(refused.length).toBe(BLOCKS * BLOCK);
    expect(refused.filter((text) => text.includes('refer to earlier answers')).length).toBe(5);
    // Those that are admitted do not count.
    const other = await connectAnew();
    const { id } = await other.responses.create({ model: MODEL, input: 'Hello' });
    const good = { model: MODEL, input: 'x', store: false, previous_response_id: id };
    expect(await collectRefusals(other, good)).toEqual([]);
  });

  it('cannot be named so often that the request grows beyond the limit of a body', async () => {
    const client = await connectAnew();
    const made = await client.responses.create({ model: MODEL, input: '[[tokens 700]]' });
    const item = { type: 'item_reference' as const, id: made.output[0]?.id ?? '' };
    await expect(
      client.responses.create({ model: MODEL, input: Array(16_000).fill(item) }),
    ).rejects.toMatchObject({ status: 413 });
  });
});
