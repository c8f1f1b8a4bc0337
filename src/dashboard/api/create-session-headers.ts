import type { Me } from './api-types.ts';

/**
 * The headers beside the cookie of a session. The node refuses the cookie if it is not that of this
 * owner, since somebody else may have signed in in another window.
 */
export const createSessionHeaders = (owner: Me | undefined): Readonly<Record<string, string>> => ({
  'x-tollgate-session': '1',
  ...(owner?.id && { 'x-tollgate-operator': encodeURIComponent(owner.id) }),
});
