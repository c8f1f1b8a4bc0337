import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { createReasoningVault } from '../keys/reasoning-vault.ts';
import type { Log } from '../lib/log.ts';
import type { ReasoningVault } from '../protocol/sealed-reasoning.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { REASONING_SECRET_KEY } from '../redis/redis-keys.ts';
import { callEachSecond } from './call-each-second.ts';

const SECRET_BYTES = 32;
/** The one that seals, and one that sealed before. */
const SECRETS_MAX = 2;
/** A Redis that fails over may lose the secret. */
const SECONDS_PER_CHECK = 60;

interface VaultOptions {
  readonly config: Pick<Config, 'reasoningSecrets'>;
  readonly redis: Pick<RedisConnection, 'send'>;
  readonly log: Log;
}

interface OpenVault {
  readonly vault: ReasoningVault;
  /** Ends the attempts to get the secret. */
  stop(): void;
}

/**
 * Without secrets in the settings, all nodes share a random one in Redis. Until it is there,
 * thoughts are not carried: answers go out without them.
 */
export async function openReasoningVault({ config, redis, log }: VaultOptions): Promise<OpenVault> {
  const { reasoningSecrets } = config;
  if (reasoningSecrets.length > 0) {
    const vault = createReasoningVault(() => reasoningSecrets.map((secret) => secret.reveal()));
    return { vault, stop() {} };
  }
  let shared: readonly string[] = [];
  const agree = async () => {
    try {
      const agreed = await agreeOnSecret(redis, shared[0]);
      if (agreed !== shared[0]) shared = [agreed, ...shared].slice(0, SECRETS_MAX);
    } catch (error) {
      log.debug({ error }, 'the secret for thoughts cannot be read yet');
    }
  };
  await agree();
  let seconds = 0;
  const stop = callEachSecond((isLast) => {
    seconds += 1;
    const isDue = shared.length === 0 || seconds % SECONDS_PER_CHECK === 0;
    if (isDue && !isLast) void agree();
  });
  return { vault: createReasoningVault(() => shared), stop };
}

/** Whichever node comes first chooses the secret. */
async function agreeOnSecret(
  redis: Pick<RedisConnection, 'send'>,
  known: string | undefined,
): Promise<string> {
  const chosen = known ?? randomBytes(SECRET_BYTES).toString('base64url');
  await redis.send('SET', [REASONING_SECRET_KEY, chosen, 'NX']);
  const secret = await redis.send('GET', [REASONING_SECRET_KEY]);
  if (typeof secret !== 'string' || secret === '') throw new Error('Redis has no such secret');
  return secret;
}
