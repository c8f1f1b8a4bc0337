import type { Directory } from '../../accounts/directory.ts';
import type { Key } from '../../accounts/key.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { encodeKeyInfo } from '../../protocol/key-info.ts';
import type { FleetDesk } from '../fleet-desk.ts';
import { requireLists } from '../require-lists.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import { showKey } from '../schemas/admin-views.ts';
import {
  keyAnswer,
  keyCreatedAnswer,
  keyLimitsAnswer,
  keyRevokedAnswer,
  keyRotatedAnswer,
  keysAnswer,
} from '../schemas/answer-schemas.ts';
import { type AdminChange, type AdminRoute, defineAdminRoute } from './admin-route.ts';

export interface KeyRoutesOptions {
  readonly directory: Directory;
  readonly fleet: Pick<FleetDesk, 'findNodesWithoutLists'>;
  /** The rules of the settings in use. */
  readonly rateRules: () => Parameters<Directory['describeKey']>[1];
  /** What stands for an end user of this name where its requests are counted. */
  readonly digestEndUser: (name: string) => string;
  readonly schemas: AdminSchemas;
  readonly clock: Clock;
}

export function createKeyRoutes(options: KeyRoutesOptions): readonly AdminRoute[] {
  const { directory, fleet, schemas, rateRules, digestEndUser, clock } = options;
  const show = (key: Key) => showKey(key, clock.nowMs());
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/accounts/{id}/keys',
      role: 'viewer',
      summary: 'List the keys of an account, the oldest first',
      answer: keysAnswer,
      async handle({ id }) {
        return { status: 200, body: { data: (await directory.listKeys(id)).map(show) } };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/accounts/{id}/keys',
      role: 'operator',
      summary: 'Create a key: its text is shown only once',
      changes: 'key.create',
      body: schemas.createKey,
      answer: keyCreatedAnswer,
      async handle({ id, body }) {
        await requireLists(fleet, body);
        const { key, record } = await directory.createKey(id, body);
        const after = show(record);
        const change = { account: id, key: record.id, after };
        return { status: 201, body: { ...after, key }, change };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/keys/{id}',
      role: 'viewer',
      summary: 'Show a key',
      answer: keyAnswer,
      async handle({ id }) {
        return { status: 200, body: show(await directory.getKey(id)) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/keys/{id}/limits',
      role: 'viewer',
      summary: 'Show what is left of the limits of a key, and of one of its end users',
      query: schemas.keyLimitsQuery,
      answer: keyLimitsAnswer,
      async handle({ id, query: { user } }) {
        const key = await directory.getKey(id);
        const endUser = user && digestEndUser(user);
        const info = await directory.describeKey(key, rateRules(), endUser);
        return { status: 200, body: encodeKeyInfo(info, `…${key.last4}`) };
      },
    }),
    defineAdminRoute({
      method: 'PATCH',
      path: '/admin/v1/keys/{id}',
      role: 'operator',
      summary: 'Change the controls of a key',
      changes: 'key.set',
      body: schemas.patchKey,
      answer: keyAnswer,
      async handle({ id, body: { patch, baseVersion } }) {
        await requireLists(fleet, patch);
        const changed = await directory.patchKey(id, patch, baseVersion);
        return { status: 200, body: show(changed.after), change: changeOf(changed, show) };
      },
    }),
    ...createSecretRoutes(options),
  ];
}

/** The routes that end a secret of a key. */
function createSecretRoutes(options: KeyRoutesOptions): readonly AdminRoute[] {
  const { directory, schemas, clock } = options;
  const show = (key: Key) => showKey(key, clock.nowMs());
  return [
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/keys/{id}/rotate',
      role: 'operator',
      summary: 'Rotate a key: its new text is shown only once',
      changes: 'key.rotate',
      body: schemas.rotateKey,
      answer: keyRotatedAnswer,
      async handle({ id, body: { overlap_seconds: seconds, base_rotated_at: baseRotatedMs } }) {
        const overlapMs = seconds === undefined ? undefined : seconds * 1_000;
        const options = { overlapMs, baseRotatedMs };
        const { key, replicated, ...changed } = await directory.rotateKey(id, options);
        const body = { ...show(changed.after), key, replicated };
        return { status: 200, body, change: changeOf(changed, show) };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/keys/{id}/revoke',
      role: 'operator',
      summary: 'End a key at once, and for good',
      changes: 'key.revoke',
      answer: keyRevokedAnswer,
      async handle({ id }) {
        const { replicated, ...changed } = await directory.revokeKey(id);
        const body = { ...show(changed.after), replicated };
        return { status: 200, body, change: changeOf(changed, show) };
      },
    }),
  ];
}

function changeOf(
  { before, after }: { readonly before: Key; readonly after: Key },
  show: (key: Key) => object,
): AdminChange {
  const { id: key, accountId: account } = after;
  return { account, key, before: show(before), after: show(after) };
}
