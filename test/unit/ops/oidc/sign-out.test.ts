import type { IncomingMessage } from 'node:http';
import { expect, it, vi } from 'vitest';
import { createOidcHandler } from '../../../../src/ops/oidc/oidc-handler.ts';
import type { OidcOptions } from '../../../../src/ops/oidc/oidc-parts.ts';
import { createMemoryLog } from '../../../support/memory-log.ts';

it('a sign-out of nobody makes the node forget nobody', async () => {
  const forgetAll = vi.fn();
  const options = {
    ...{ oidc: { redirectUrl: 'http://ops.test/oidc/callback', issuer: '' }, node: 'node-1' },
    ...{ clock: { nowMs: Date.now }, callers: { forgetAll } },
    sessions: { find: async () => undefined, end: async () => undefined },
  } as unknown as OidcOptions;
  const handle = createOidcHandler(options, createMemoryLog());
  for (const cookie of [undefined, `tollgate-session=${'x'.repeat(43)}`]) {
    const request = { method: 'POST', headers: { 'x-tollgate-session': '1', cookie }, socket: {} };
    const path = '/oidc/sign-out';
    expect(await handle(request as unknown as IncomingMessage, path)).toMatchObject({
      status: 200,
    });
  }
  expect(forgetAll).not.toHaveBeenCalled();
});
