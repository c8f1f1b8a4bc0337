import { CommandFailure } from './command-failure.ts';

/**
 * Follows no redirect: on its way a POST would become a GET, and the token would be left out or
 * shown to somebody else.
 */
export async function fetchFromNode(
  url: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' });
  const to = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || to === null) return response;
  await response.body?.cancel();
  throw new CommandFailure(
    `${url} is not the address of the node, it leads to ${to}: --url or TOLLGATE_ADMIN_URL must name where the node is`,
  );
}
