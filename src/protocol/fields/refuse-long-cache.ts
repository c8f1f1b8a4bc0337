import type { RequestOutline } from '../inference.ts';
import { isObject } from '../schema.ts';
import { refuseKind } from './refuse-kind.ts';

/**
 * Caching for an hour costs more, and upstreams of the chat and Responses formats do not report
 * it separately. Call this for a request that is sent on in the format in which it came: others
 * lose their cache markers on the way to such an upstream. Throws a `Refusal`.
 */
export function refuseLongCache({ sentUndecoded }: RequestOutline): void {
  for (const value of sentUndecoded) {
    const control = isObject(value) ? value['cache_control'] : undefined;
    const ttl = isObject(control) ? control['ttl'] : undefined;
    if (ttl === undefined || ttl === null || ttl === '5m') continue;
    throw refuseKind('cache_control.ttl', 'one other than 5m');
  }
}
