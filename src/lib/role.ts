/** What people who operate Tollgate may do. Each role may do all that those before it may. */
export const ROLES = ['viewer', 'billing', 'operator'] as const;

export type Role = (typeof ROLES)[number];

/** The role itself and those below it. */
export function rolesWithin(role: Role): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1);
}

export function isRole(text: unknown): text is Role {
  return ROLES.some((role) => role === text);
}
