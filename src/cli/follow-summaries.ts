import type { AdminSource } from '../config/source/read-admin-source.ts';
import { createSseDecoder } from '../protocol/sse/sse-decoder.ts';
import { type FleetSummary, readSummary } from '../top/read-fleet.ts';
import { fetchFromNode, refuseAnswer, refuseWithoutToken } from './admin-client.ts';
import { CommandFailure } from './command-failure.ts';

/** A node sends a summary each second. */
const SILENCE_MAX_MS = 10_000;

/**
 * What all nodes did, second by second. Ends only by the signal; throws if the node cannot be
 * reached, refuses, or falls silent.
 */
export async function* followSummaries(
  { url, token, tokenPath }: AdminSource,
  leaving: AbortSignal,
): AsyncGenerator<FleetSummary> {
  if (token === undefined) throw refuseWithoutToken(tokenPath);
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const response = await fetchFromNode(url, '/admin/v1/events', {
      headers: { authorization: `Bearer ${token.reveal()}` },
      signal: AbortSignal.any([leaving, silence.signal]),
    });
    if (!response.ok || response.body === null) {
      throw refuseAnswer(response.status, await response.json().catch(() => undefined), url);
    }
    const decoder = createSseDecoder();
    for await (const chunk of response.body) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      for (const { event, data } of decoder.push(chunk)) {
        if (event === 'summary') yield readSummary(JSON.parse(data));
      }
    }
    throw new CommandFailure(`the node at ${url} ended the stream of events`);
  } catch (cause) {
    if (leaving.aborted) return;
    if (cause instanceof CommandFailure) throw cause;
    throw new CommandFailure(
      `cannot follow the events of ${url}: is the node running? For another one, set --url or TOLLGATE_ADMIN_URL`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
