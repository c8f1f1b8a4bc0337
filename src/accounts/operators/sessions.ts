import { isRole, type Role } from '../../lib/role.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { FLEET_CHANNEL, OPERATOR_KEYS } from '../../redis/redis-keys.ts';
import { createRecentWrites, type RepeatWrites } from '../recent-writes.ts';
import { createRecordStore } from '../record-store.ts';
import { digestSecret } from './operator-token.ts';
import { createTickets } from './tickets.ts';

const SESSIONS_MAX = 1_000;
const SIGN_INS_MAX = 1_000;
/** How long somebody may take at the provider. */
export const SIGN_IN_MAX_MS = 600_000;
export const SESSION_ID_PREFIX = 'ses_';
const ID_CHARS = 12;

const endScript = loadLuaScript(
  new URL('./end-session.lua', import.meta.url),
  ['sessions'],
  ['digest', 'id', 'channel'],
);

/** Somebody who signed in to the dashboard with an account of an OpenID provider. */
export interface Session {
  readonly id: string;
  /** What the provider calls them. */
  readonly subject: string;
  readonly name: string;
  readonly role: Role;
  readonly issuer: string;
  readonly clientId: string;
  readonly createdMs: number;
  readonly untilMs: number;
}

/** What a sign-in has to prove when it comes back from the provider. */
export interface BegunSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface Sessions {
  beginSignIn(signIn: BegunSignIn): Promise<{ readonly cookie: string }>;
  /** Each is returned once. Undefined if there is none, or if it took too long. */
  takeSignIn(cookie: string): Promise<BegunSignIn | undefined>;
  open(
    person: Omit<Session, 'id' | 'createdMs' | 'untilMs'>,
  ): Promise<{ readonly session: Session; readonly cookie: string }>;
  find(cookie: string): Promise<Session | undefined>;
  list(): Promise<readonly Session[]>;
  /** Undefined if there was no such session. */
  end(cookie: string): Promise<Session | undefined>;
  endById(id: string): Promise<Session | undefined>;
  /**
   * Called after a change of masters, which may have brought back what had ended. Safe at any time.
   */
  replayRecentWrites: RepeatWrites;
}

interface SessionsOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  /**
   * The clock for what a failover may lose. Defaults to `clock`, for where nobody watches the
   * masters.
   */
  readonly masterClock?: Clock;
  readonly lifeMs: number;
  /** A session that is not used for this long ends too. */
  readonly idleMs: number;
}

type StoredSession = Omit<Session, 'untilMs'>;

export function createSessions(options: SessionsOptions): Sessions {
  const { connection, randomBytes, clock, lifeMs, idleMs } = options;
  const store = createRecordStore(connection);
  const recent = createRecentWrites(options.masterClock ?? clock);
  const parts = { connection, store, randomBytes };
  const signIns = createTickets({
    ...{ ...parts, tickets: OPERATOR_KEYS.signIns },
    ...{ lifeMs: SIGN_IN_MAX_MS, idleMs: SIGN_IN_MAX_MS, ticketsMax: SIGN_INS_MAX },
  });
  const tickets = createTickets({
    ...{ ...parts, tickets: OPERATOR_KEYS.sessions },
    ...{ lifeMs, idleMs, ticketsMax: SESSIONS_MAX },
  });

  const end = async (digest: string, { id }: Session) => {
    const args = { digest, id, channel: FLEET_CHANNEL };
    const redisKeys = { sessions: OPERATOR_KEYS.sessions };
    const remove = () => store.ask(() => endScript.call(connection, redisKeys, args));
    await remove();
    recent.add(remove);
  };

  const find: Sessions['find'] = async (cookie) => {
    const found = await tickets.read(cookie);
    return found && decode(found.text, found.untilMs);
  };

  return {
    find,
    beginSignIn: (signIn) => signIns.add(JSON.stringify(signIn)),
    async takeSignIn(cookie) {
      const found = await signIns.take(cookie);
      if (found === undefined) return undefined;
      recent.add(() => signIns.take(cookie));
      return JSON.parse(found.text) as BegunSignIn;
    },
    async open(person) {
      const id = SESSION_ID_PREFIX + randomBase62(ID_CHARS, randomBytes);
      const stored: StoredSession = { id, ...person, createdMs: clock.nowMs() };
      const { cookie, untilMs } = await tickets.add(JSON.stringify(stored));
      return { cookie, session: { ...stored, untilMs } };
    },
    async list() {
      const nowMs = clock.nowMs();
      return (await tickets.list())
        .filter(({ idleUntilMs }) => idleUntilMs > nowMs)
        .map(({ text, untilMs }) => decode(text, untilMs))
        .toSorted((a, b) => a.createdMs - b.createdMs);
    },
    async end(cookie) {
      const session = await find(cookie);
      if (session !== undefined) await end(digestSecret(cookie), session);
      return session;
    },
    async endById(id) {
      for (const { digest, text, untilMs } of await tickets.list()) {
        const session = decode(text, untilMs);
        if (session.id !== id) continue;
        await end(digest, session);
        return session;
      }
      return undefined;
    },
    replayRecentWrites: recent.repeat,
  };
}

function decode(text: string, untilMs: number): Session {
  const stored = JSON.parse(text) as StoredSession;
  return { ...stored, role: isRole(stored.role) ? stored.role : 'viewer', untilMs };
}
