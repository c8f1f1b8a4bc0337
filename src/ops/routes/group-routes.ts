import type { Directory } from '../../accounts/directory.ts';
import { encodeSharedLimits } from '../../protocol/rates/shared-limits.ts';
import type { FleetDesk } from '../fleet-desk.ts';
import { requireLists } from '../require-lists.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import { showGroup } from '../schemas/admin-views.ts';
import { groupAnswer, groupsAnswer, sharedLimitsAnswer } from '../schemas/answer-schemas.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

interface GroupRoutesOptions {
  readonly directory: Directory;
  readonly fleet: Pick<FleetDesk, 'findNodesWithoutLists'>;
  /** The rules of the settings in use. */
  readonly rateRules: () => Parameters<Directory['describeGroup']>[1];
  readonly schemas: AdminSchemas;
}

export function createGroupRoutes(options: GroupRoutesOptions): readonly AdminRoute[] {
  const { directory, fleet, rateRules, schemas } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/accounts/{id}/groups',
      role: 'viewer',
      summary: 'List the groups of an account, the oldest first',
      answer: groupsAnswer,
      async handle({ id }) {
        return { status: 200, body: { data: (await directory.listGroups(id)).map(showGroup) } };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/accounts/{id}/groups',
      role: 'operator',
      summary: 'Create a group of keys',
      changes: 'group.create',
      body: schemas.createGroup,
      answer: groupAnswer,
      async handle({ id, body }) {
        await requireLists(fleet, body);
        const after = showGroup(await directory.createGroup(id, body));
        return { status: 201, body: after, change: { account: id, after } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/groups/{id}',
      role: 'viewer',
      summary: 'Show a group of keys',
      answer: groupAnswer,
      async handle({ id }) {
        return { status: 200, body: showGroup(await directory.getGroup(id)) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/groups/{id}/limits',
      role: 'viewer',
      summary: 'Show what is left of the limits that all keys of a group meet',
      answer: sharedLimitsAnswer,
      async handle({ id }) {
        const group = await directory.getGroup(id);
        const limits = await directory.describeGroup(group, rateRules());
        const whose = { account: group.accountId, group: id };
        return { status: 200, body: { ...whose, ...encodeSharedLimits(limits) } };
      },
    }),
    defineAdminRoute({
      method: 'PATCH',
      path: '/admin/v1/groups/{id}',
      role: 'operator',
      summary: 'Change the controls of a group',
      changes: 'group.set',
      body: schemas.patchGroup,
      answer: groupAnswer,
      async handle({ id, body: { patch, baseVersion } }) {
        await requireLists(fleet, patch);
        const changed = await directory.patchGroup(id, patch, baseVersion);
        const [before, after] = [showGroup(changed.before), showGroup(changed.after)];
        return { status: 200, body: after, change: { account: after.account, before, after } };
      },
    }),
  ];
}
