import { refuseKind } from '../../fields/refuse-kind.ts';
import type { RequestOutline } from '../../inference.ts';
import { isObject } from '../../schema.ts';

/**
 * Caching for an hour costs more, and upstreams of the chat format do not report it separately.
 * Throws a `Refusal`.
 */
export function refuseLongCache({ sentUndecoded }: RequestOutline): void {
  for (const value of sentUndecoded) {
    const control = isObject(value) ? value['cache_control'] : undefined;
    const ttl = isObject(control) ? control['ttl'] : undefined;
    if (ttl === undefined || ttl === null || ttl === '5m') continue;
    throw refuseKind('cache_control.ttl', 'one other than 5m');
  }
}
