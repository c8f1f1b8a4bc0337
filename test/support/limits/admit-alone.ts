import {
  type AdmitArguments,
  type AdmitReply,
  createGatheredAdmit,
} from '../../../src/quota/scripts/admit.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';

/** Admits a request in a run of the script that it shares with no other. */
export function admitAlone(
  connection: Pick<RedisConnection, 'send'>,
  order: AdmitArguments,
): Promise<AdmitReply> {
  const send: RedisConnection['send'] = (...call) => connection.send(...call);
  return createGatheredAdmit({ send, atTurnEnd: setImmediate, isCluster: false })(order);
}
