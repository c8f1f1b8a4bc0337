import type { AdminRoute, AdminRouteOptions } from './admin-route.ts';
import { parseInput } from './admin-schemas.ts';
import { showKey } from './admin-views.ts';

export function createKeyRoutes(options: AdminRouteOptions): readonly AdminRoute[] {
  const { directory, schemas, noteChange } = options;
  return [
    {
      method: 'GET',
      path: '/admin/v1/accounts/{id}/keys',
      async handle({ id }) {
        return { status: 200, body: { data: (await directory.listKeys(id)).map(showKey) } };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/accounts/{id}/keys',
      async handle({ id, body }) {
        const controls = parseInput(schemas.controls, body);
        const { key, record } = await directory.createKey(id, controls);
        const after = showKey(record);
        noteChange({ what: 'key.create', subject: record.id, after });
        return { status: 201, body: { ...after, key } };
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/keys/{id}',
      async handle({ id }) {
        return { status: 200, body: showKey(await directory.getKey(id)) };
      },
    },
    {
      method: 'PATCH',
      path: '/admin/v1/keys/{id}',
      async handle({ id, body }) {
        const changed = await directory.patchKey(id, parseInput(schemas.controls, body));
        const [before, after] = [showKey(changed.before), showKey(changed.after)];
        noteChange({ what: 'key.set', subject: id, before, after });
        return { status: 200, body: after };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/keys/{id}/rotate',
      async handle({ id, body }) {
        const { overlap_seconds: seconds } = parseInput(schemas.rotateKey, body);
        const overlapMs = seconds === undefined ? undefined : seconds * 1_000;
        const { key, replicated, ...changed } = await directory.rotateKey(id, { overlapMs });
        const [before, after] = [showKey(changed.before), showKey(changed.after)];
        noteChange({ what: 'key.rotate', subject: id, before, after });
        return { status: 200, body: { ...after, key, replicated } };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/keys/{id}/revoke',
      async handle({ id, body }) {
        parseInput(schemas.nothing, body);
        const { replicated, ...changed } = await directory.revokeKey(id);
        const [before, after] = [showKey(changed.before), showKey(changed.after)];
        noteChange({ what: 'key.revoke', subject: id, before, after });
        return { status: 200, body: { ...after, replicated } };
      },
    },
  ];
}
