import { expect } from 'vitest';
import type { Tab } from './servers/start-browser.ts';

/** Everything that a reader of the page, or another script on it, could find. */
const ALL_KEPT = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
  { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
])`;

export async function expectForgotten({ page }: Tab, secret: string): Promise<void> {
  expect(secret).toMatch(/^sk-gw2-/);
  const kept = String(await page.evaluate(ALL_KEPT));
  expect(kept).toContain('tollgate-admin-token');
  expect(kept).not.toContain(secret);
  // The id is not secret; the part after it is.
  expect(kept).not.toContain(secret.slice('sk-gw2-'.length + 11, -4));
}
