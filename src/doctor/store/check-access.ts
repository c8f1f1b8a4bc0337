import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { CHANGES_CHANNEL, doctorKey } from '../../redis/redis-keys.ts';
import { type Finding, failCheck, passCheck, skipCheck } from '../finding.ts';

/** Enough different hash tags to reach every master of a small Cluster. */
const TRIAL_KEYS = 16;
const TRIAL_TEXT = 'tollgate doctor';
const RIGHTS_TEXT = 'Give the user ~gw:* &gw:* +@all -@admin -@dangerous +info +role, or more.';

const writeScript = loadLuaScript(new URL('./write.lua', import.meta.url), ['trial'], ['text']);
const rightsScript = loadLuaScript(
  new URL('./rights.lua', import.meta.url),
  ['trial'],
  ['channel'],
);

type Connection = Pick<RedisConnection, 'send'>;

export async function checkWrites(connection: Connection): Promise<Finding> {
  for (let n = 0; n < TRIAL_KEYS; n++) {
    try {
      const read = await writeScript.call(
        connection,
        { trial: doctorKey(n) },
        { text: TRIAL_TEXT },
      );
      if (read !== TRIAL_TEXT) throw new Error('what was written was not read back');
    } catch (error) {
      const { message } = error as Error;
      return failCheck(message, adviseOn(message));
    }
  }
  return passCheck('scripts run, and what they write is there');
}

/** The first word of the answer says which rule of Redis refuses writes. */
function adviseOn(message: string): string {
  if (message.includes('NOPERM') || message.includes('ACL')) return RIGHTS_TEXT;
  const word = /^\w+/.exec(message)?.[0] ?? '';
  const advice: Readonly<Record<string, string>> = {
    OOM: 'Raise maxmemory, or free memory.',
    READONLY: 'Point redis.url at the master, not at a replica.',
    MISCONF: 'Check the log and the disk of Redis: it cannot save its data.',
    NOREPLICAS: 'Start the missing replicas, or lower min-replicas-to-write.',
    CLUSTERDOWN: 'Bring the missing masters of the Cluster back.',
  };
  return advice[word] ?? 'See the log of Redis.';
}

export async function checkRights(connection: Connection): Promise<Finding> {
  let refused: unknown;
  try {
    refused = await rightsScript.call(
      connection,
      { trial: doctorKey(0) },
      { channel: CHANGES_CHANNEL },
    );
  } catch (error) {
    const { message } = error as Error;
    if (message.includes('acl_check_cmd')) {
      return skipCheck('unknown, because this server has no redis.acl_check_cmd');
    }
    return failCheck(message, RIGHTS_TEXT);
  }
  if (!Array.isArray(refused) || refused.length === 0) return passCheck('all commands are allowed');
  return failCheck(`the user may not run ${refused.join(', ')}`, RIGHTS_TEXT);
}
