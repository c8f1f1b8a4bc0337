import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

/**
 * Finds words without spaces that wrap over more than one line. Long prose and titles of examples
 * may wrap.
 */
const BROKEN_WORDS = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.parentElement.closest('pre, textarea, td.prose, h3, .copy')) continue;
    for (const word of text.data.matchAll(/[^\\s]+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
})()`;
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

it.each([390, 1_280])(
  'no id is broken and no page is wider than a screen of %i px',
  async (width) => {
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 1_234_567.123456 });
    const { id, key } = await operator.createKey(account, { name: 'build server', rpm: 600 });
    const { headers } = await askModel(gateway().url, key, messageOf('Hi'));
    await operator.waitUntilSettled(account);
    const listed = async () =>
      (await operator.call<{ data: object[] }>('GET', `/requests?account=${account}`)).data;
    await waitUntil(async () => (await listed()).length > 0, 'the books have the request');
    await operator.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    await operator.call('PATCH', `/accounts/${account}`, { status: 'active' });

    const node = gateway().nodeId();
    const tab = await openTab({ viewport: { width, height: 800 } });
    await signIn(tab, gateway());
    const { page } = tab;
    const expectWhole = async (what: string) => {
      const isRead = () =>
        page.evaluate<boolean>("!document.body.textContent.includes('Loading…')");
      await waitUntil(isRead, `${what} has been read`);
      expect(await page.evaluate(BROKEN_WORDS), what).toEqual([]);
      expect(await page.evaluate(OVERFLOW), what).toBe(0);
    };
    const month = new Date().toISOString().slice(0, 'yyyy-mm'.length);
    const requestId = headers.get('request-id') ?? '';
    for (const [place, text] of [
      ['overview', 'All nodes on this Redis'],
      ['accounts', account],
      ['requests', 'the newest first'],
      [`accounts/${account}/statements/${month}`, 'Charged by key'],
      [`accounts/${account}`, 'llm-haiku-4.5'],
      [`keys/${id}`, 'Limits now'],
      [`requests/${requestId}`, 'Timeline'],
      ['upstreams', 'llm-haiku-4.5'],
      ['catalogue', 'llm-haiku-4.5'],
      ['audit', 'account.suspend'],
      ['nodes', 'All nodes on this Redis'],
      [`nodes/${node}`, 'Memory now'],
      ['playground', 'Prompt'],
    ] as const) {
      await page.evaluate(`location.hash = '#/${place}'`);
      await page.getByText(text).first().waitFor();
      await expectWhole(place);
    }
    await page.goto(gateway().url);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Show my key' }).click();
    await page.getByText(account).waitFor();
    await expectWhole('the page for key owners');
    expect(tab.errors).toEqual([]);
  },
);
