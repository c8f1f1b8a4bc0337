import type { IncomingMessage } from 'node:http';
import { showSession } from '../routes/operator-routes.ts';
import type { OidcParts } from './oidc-parts.ts';

/**
 * Ends the session of a cookie, if it has not ended yet, and enters that in the log of changes.
 */
export async function leaveSession(
  { sessions, callers, audit, node }: OidcParts,
  cookie: string,
  { socket }: IncomingMessage,
): Promise<void> {
  const ended = await sessions.end(cookie);
  if (ended === undefined) return;
  callers.forgetAll();
  const operator = { id: ended.subject, name: ended.name };
  await audit.add({
    ...{ what: 'operator.sign_out', node, account: null, key: null, outcome: 'done' },
    who: { via: 'api', token: null, address: socket.remoteAddress ?? '', operator },
    before: showSession(ended),
    after: { id: ended.id },
  });
}
