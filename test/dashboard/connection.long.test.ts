import { expect, it } from 'vitest';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const openTab = useBrowser();

it('a node that restarts is missed in words, and found again without anybody doing something', async () => {
  const opsPort = await findFreePort();
  const env = { TOLLGATE_OPS_LISTEN: `127.0.0.1:${opsPort}` };
  const first = await startGateway({ config: FAST_CONFIG, env });
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const tab = await openTab();
  await signIn(tab, { ...first, opsUrl });
  const { page } = tab;
  const live = page.getByRole('img', { name: /requests: 0 now/ });
  await live.waitFor();
  const banner = page.getByText('Connection lost, trying again');
  expect(await banner.count()).toBe(0);

  first.signal('SIGTERM');
  await first.waitForExit();
  await banner.waitFor();
  // Every list of the page that asked in vain says so.
  const alerts = page.getByRole('alert').filter({ hasText: 'the node cannot be reached' });
  await alerts.first().waitFor();

  const second = await startGateway({ config: FAST_CONFIG, env, dataDir: first.dataDir });
  await banner.waitFor({ state: 'detached' });
  await waitUntil(async () => (await page.getByRole('alert').count()) === 0, 'all is found again');
  await page.getByRole('table', { name: 'All nodes' }).getByRole('link').click();
  const [pid = 0] = second.workerPids();
  await page.getByRole('cell', { name: String(pid), exact: true }).waitFor();
});
