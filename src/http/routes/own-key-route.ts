import type { Steps } from '../../gateway/steps.ts';
import { encodeHybridRefusal } from '../../protocol/encode-hybrid-refusal.ts';
import { encodeKeyInfo } from '../../protocol/key-info.ts';
import type { HttpRoute } from './route-table.ts';

const TIME_MAX_MS = 120_000;

/**
 * Returns what a key may know about itself. This costs nothing, and is guarded like every request
 * that costs nothing.
 */
export function createOwnKeyRoute(steps: Pick<Steps, 'checkKey' | 'describeKey'>): HttpRoute {
  return {
    method: 'GET',
    path: '/v1/key',
    timeMaxMs: TIME_MAX_MS,
    encodeRefusal: encodeHybridRefusal,
    async handle(exchange) {
      const key = steps.checkKey(exchange);
      exchange.answerJson(200, encodeKeyInfo(await steps.describeKey(key), key.masked));
    },
  };
}
