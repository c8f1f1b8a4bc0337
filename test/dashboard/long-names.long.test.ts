import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_UPSTREAM, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const WORDS = 'Acme International Holdings GmbH & Co. KG, Production (EU)';
const WORD = 'international-holdings_'.repeat(5).slice(0, 100);
const MODEL = `vendor/${WORD}`.slice(0, 64);
const PLAN = WORD.slice(0, 32);
const gateway = useGateway({
  config: `workers: 1
${FAST_UPSTREAM}plans: {${PLAN}: 600}
models:
  - {id: ${MODEL}, max_output_tokens: 8000, price: {input: 1, output: 10}}
`,
});
const openTab = useBrowser();

/** Whatever reaches beyond the screen, also where a box cuts it off or scrolls. */
const BEYOND = `(() => {
  const width = document.documentElement.clientWidth;
  const isCut = (element) => element.closest('select, textarea, .lines, caption, thead');
  return Array.from(document.querySelectorAll('body *'))
    .filter((element) => !isCut(element) && element.getBoundingClientRect().right > width + 1)
    .map((element) => element.tagName + ' ' + element.textContent.slice(0, 60));
})()`;

let places: readonly (readonly [string, string])[] = [];

/** Accounts, groups and keys with long names, and requests of theirs. */
beforeAll(async () => {
  const operator = admin(gateway());
  const made = await Promise.all([WORDS, WORD].map(createNamed));
  await operator.waitForBooks();
  for (const name of [WORDS, WORD]) {
    await operator.call('POST', '/operators', { name: name.slice(0, 64), role: 'viewer' });
  }
  const month = new Date().toISOString().slice(0, 'yyyy-mm'.length);
  places = [
    ['overview', 'Top accounts'],
    ['accounts', WORDS],
    ['requests', WORDS],
    ...made.flatMap(({ account, group, key, name, request }) => [
      [`accounts/${account}`, 'Latest requests'] as const,
      [`accounts/${account}/statements/${month}`, 'Charged by key'] as const,
      [`groups/${group}`, name] as const,
      [`keys/${key}`, 'Limits now'] as const,
      [`requests/${request}`, 'Timeline'] as const,
    ]),
    ['upstreams', MODEL],
    ['catalogue', MODEL],
    ['audit', 'account.create'],
    ['operators', WORDS],
    ['playground', 'Prompt'],
  ];
});

async function createNamed(name: string) {
  const operator = admin(gateway());
  const { id: account } = await operator.call<{ id: string }>('POST', '/accounts', {
    ...{ name, plan: PLAN },
  });
  await operator.call('POST', `/accounts/${account}/credits`, {
    ...{ amount: 1_234_567.123456, id: WORD.slice(0, 64), note: name },
  });
  await operator.call('PATCH', `/accounts/${account}`, { low_balance: 2_000_000 });
  const { id: group } = await operator.call<{ id: string }>('POST', `/accounts/${account}/groups`, {
    ...{ name, limits: [{ unit: 'credits', amount: 0.000001, window: 'day', action: 'warn' }] },
  });
  const { id: key, key: secret } = await operator.createKey(account, {
    ...{ name, group, models: [MODEL] },
  });
  const body = { ...messageOf('Hi'), model: MODEL };
  const { status, headers } = await askModel(gateway().url, secret, body);
  expect(status).toBe(200);
  await operator.waitUntilSettled(account);
  return { account, group, key, name, request: headers.get('request-id') ?? '' };
}

it.each([
  [390, 'light'],
  [390, 'dark'],
  [1_280, 'light'],
] as const)('long names fit a screen of %i px, %s', async (width, colorScheme) => {
  const tab = await openTab({ viewport: { width, height: 800 }, colorScheme });
  await signIn(tab, gateway());
  const { page } = tab;
  for (const [place, text] of places) {
    await page.evaluate(`location.hash = '#/${place}'`);
    await page.getByText(text).first().waitFor();
    await waitUntilRead(page, place);
    expect(await page.evaluate(BEYOND), place).toEqual([]);
  }
  expect(tab.errors).toEqual([]);
});

async function waitUntilRead(page: Page, what: string): Promise<void> {
  const isRead = () => page.evaluate<boolean>("!document.body.textContent.includes('Loading…')");
  await waitUntil(isRead, `${what} has been read`);
}
