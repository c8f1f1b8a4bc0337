import { beforeAll, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { startReceiver, type WebhookReceiver } from '../../support/webhooks/start-receiver.ts';

const cleanUp = useCleanUp();
const openTab = useBrowser();
let gateway: Gateway;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startReceiver(cleanUp);
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const config = `${FAST_CONFIG}
webhooks:
  hosts: [127.0.0.1]
  private_networks: [127.0.0.1]
  endpoints: [{name: billing, url: '${receiver.url}', secrets: [${secret}]}]
`;
  gateway = await startGateway({ config, cleanUp });
});

async function createKey(amount: number) {
  const account = await admin(gateway).createAccount();
  const limits = [{ unit: 'requests', window: '1d', amount }];
  const { key, id } = await admin(gateway).createKey(account, { limits });
  return { account, id, ask: () => askModel(gateway.url, key, messageOf('Hi', { max_tokens: 1 })) };
}

it('events are listed, found by account and kind, and new ones are offered; a webhook is tested', async () => {
  const tab = await openTab();
  const { page } = tab;
  const { account, id, ask } = await createKey(5);
  await signIn(tab, gateway, '#/events');
  await page.getByText('There are no events yet').waitFor();
  for (let time = 0; time < 5; time++) await ask();
  await page.getByRole('button', { name: 'Show 2 new events' }).click();
  const list = page.getByRole('table', { name: 'Events of limits and balances' });
  const row = list.getByRole('row', { name: 'limit is near' });
  await row.getByRole('cell', { name: /^4 of 5 requests in / }).waitFor();
  await list.getByRole('row', { name: 'limit is reached' }).waitFor();
  expect(await row.getByRole('link', { name: id }).getAttribute('href')).toBe(`#/keys/${id}`);

  const webhooks = page.getByRole('table', { name: 'Webhooks' });
  await webhooks.getByRole('row', { name: 'billing well' }).waitFor();
  await webhooks.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('It was taken, with status 204.').waitFor();
  receiver.answer((response) => response.writeHead(500).end());
  await webhooks.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('It was not taken: the receiver answered with status 500.').waitFor();

  await page.getByLabel('What', { exact: true }).selectOption('limit.reached');
  await page.getByLabel('Account id').fill(account);
  await page.getByRole('button', { name: 'Filter' }).click();
  await row.waitFor({ state: 'detached' });
  await list.getByRole('row', { name: 'limit is reached' }).waitFor();
  await expectAccessible(tab);
  await page.setViewportSize({ width: 390, height: 800 });
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await page.evaluate(widths)).toEqual([390, 390]);
  expect(tab.errors).toEqual([]);
});
