import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Operator } from '../../accounts/audit/audit-entry.ts';
import type { Role } from '../../lib/role.ts';
import type { AdminCaller } from '../access/admin-caller.ts';
import { parseInput } from '../parse-input.ts';

/** The parts of a path at `{id}` and `{month}`. Empty if the path has none. */
export interface PathNames {
  readonly id: string;
  readonly month: string;
}

export interface AdminCall<Query = unknown, Body = unknown> extends PathNames {
  readonly query: Query;
  readonly body: Body;
  readonly who: Operator;
  readonly caller: AdminCaller;
  /** Fires when the client has left. */
  readonly signal: AbortSignal;
}

/** A change, without secrets. */
export interface AdminChange {
  /** Null if the change is about no account. */
  readonly account: string | null;
  readonly key?: string;
  readonly before?: object;
  readonly after: object;
}

export interface AdminAnswer {
  readonly status: 200 | 201 | 202;
  readonly body: object;
  /** Absent if nothing was changed. */
  readonly change?: AdminChange;
}

/** An answer that takes over the response, until it has ended or the client has left. */
export interface AdminStream {
  /** An error thrown before the answer has begun is sent as a plain refusal. */
  readonly stream: (response: ServerResponse) => void | Promise<void>;
}

interface AdminRouteShape {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** The path, with at most one `{id}` and one `{month}`. */
  readonly path: string;
  readonly summary: string;
  /** The least role that may use it. */
  readonly role: Role;
  /** Names the change in the audit log. It may depend on the body; undefined if nothing changes. */
  readonly changes?: string | ((body: unknown) => string | undefined);
  /** The longest body that it takes, if that is more than usual. */
  readonly bodyBytesMax?: number;
  /** The schema of a successful answer, or the content type of a stream. */
  readonly answer: z.ZodType | 'text/event-stream' | 'application/x-ndjson' | '*/*';
  /** What else a successful answer may be, if the query asks for it. */
  readonly otherAnswers?: readonly ('text/csv' | 'text/html')[];
  /** The schema of one part of a stream. Absent if the parts are not described. */
  readonly part?: z.ZodType;
}

interface AdminRouteDefinition<Query, Body> extends AdminRouteShape {
  /** Absent if the route takes no query. */
  readonly query?: z.ZodType<Query>;
  /** Absent if the route takes no body. */
  readonly body?: z.ZodType<Body>;
  /** What to report of a change if nobody knows whether it took place, without secrets. */
  readonly describeUnknown?: (call: AdminCall<Query, Body>) => object;
  handle(call: AdminCall<Query, Body>): Promise<AdminAnswer | AdminStream>;
}

export interface AdminRoute extends AdminRouteShape {
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly describeUnknown: (call: AdminCall) => object | undefined;
  /** Checks the input before anything else. */
  handle(call: AdminCall): Promise<AdminAnswer | AdminStream>;
}

const nothing = z.strictObject({});

/** Defines a route whose input is checked with the schemas that the OpenAPI document shows. */
export function defineAdminRoute<Query, Body>(
  route: AdminRouteDefinition<Query, Body>,
): AdminRoute {
  // A route without a schema takes no fields.
  const query: z.ZodType = route.query ?? nothing;
  const body: z.ZodType = route.body ?? nothing;
  const check = (call: AdminCall): AdminCall<Query, Body> => ({
    ...call,
    query: parseInput(query, call.query) as Query,
    body: (route.method === 'GET' ? {} : parseInput(body, call.body)) as Body,
  });
  return {
    ...route,
    ...{ query, body },
    describeUnknown: (call) => route.describeUnknown?.(check(call)),
    handle: (call) => route.handle(check(call)),
  };
}
