import type { ServerResponse } from 'node:http';

/** Proxies give up after a minute without a byte, and clients after a few minutes. */
const SIGN_OF_LIFE_MS = 15_000;

/**
 * Sends an answer that may take a long time. Until it is ready, white space, which JSON may begin
 * with, shows that it is on its way. A failure before the first white space is still sent as a
 * plain refusal.
 */
export async function sendSlowJson(
  response: ServerResponse,
  read: () => Promise<object>,
  signOfLifeMs = SIGN_OF_LIFE_MS,
): Promise<void> {
  const write = (text: string) => {
    if (response.destroyed) return;
    if (!response.headersSent) {
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      response.writeHead(200, headers);
    }
    response.write(text);
  };
  const timer = setInterval(() => write('\n'), signOfLifeMs);
  try {
    write(JSON.stringify(await read()));
    response.end();
  } catch (error) {
    // The answer breaks off without its end, so the client sees that it is not complete.
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    clearInterval(timer);
  }
}
