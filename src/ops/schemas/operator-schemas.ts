import { z } from 'zod';
import { ROLES } from '../../lib/role.ts';
import { CALLER_KINDS } from '../access/admin-caller.ts';

const time = z.iso.datetime();

const operatorFields = {
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  status: z.enum(['active', 'revoked']),
  created_at: time,
  /** Accurate to about a minute. */
  used_at: time.nullable(),
  revoked_at: time.nullable(),
};

const operatorShown = z.strictObject(operatorFields);
export const operatorCreatedAnswer = z.strictObject({ ...operatorFields, token: z.string() });

const sessionShown = z.strictObject({
  id: z.string(),
  /** What the provider calls them. */
  subject: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  created_at: time,
  until: time,
});

export const operatorsAnswer = z.strictObject({
  data: z.array(operatorShown),
  /** The sessions of people who signed in with an account of the provider. */
  sessions: z.array(sessionShown),
});

/** An operator, or a session that was ended. */
export const operatorRevokedAnswer = z.union([operatorShown, sessionShown]);

export const meAnswer = z.strictObject({
  /** Null for the admin token. */
  id: z.string().nullable(),
  name: z.string(),
  role: z.enum(ROLES),
  /** The role itself and those below it. */
  may: z.array(z.enum(ROLES)),
  by: z.enum(CALLER_KINDS),
  /** When the session ends. */
  until: time.nullable(),
});
