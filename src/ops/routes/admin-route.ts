import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Operator } from '../../accounts/audit/audit-entry.ts';
import { parseInput } from '../parse-input.ts';

export interface AdminCall<Query = unknown, Body = unknown> {
  /** What stands in the path for `{id}`; empty where nothing does. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  readonly who: Operator;
}

/** What was changed, without secrets. */
export interface AdminChange {
  readonly account: string;
  readonly key?: string;
  readonly before?: object;
  readonly after: object;
}

export interface AdminAnswer {
  readonly status: 200 | 201 | 202;
  readonly body: object;
  /** Absent when nothing was changed. */
  readonly change?: AdminChange;
}

/** Takes over the response, which goes on until one of the two leaves. */
export interface AdminStream {
  /** What it throws before it has begun to answer is a plain refusal. */
  readonly stream: (response: ServerResponse) => void | Promise<void>;
}

interface AdminRouteShape {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With at most one `{id}`. */
  readonly path: string;
  readonly summary: string;
  /** What the audit log calls that which is changed here, by what is asked for. */
  readonly changes?: string | ((body: unknown) => string);
  /** What it answers with when it did what it was asked for, or the type of a stream. */
  readonly answer: z.ZodType | 'text/event-stream' | 'application/x-ndjson' | '*/*';
  /** What a stream is made of; absent where nothing is told of it. */
  readonly part?: z.ZodType;
}

interface AdminRouteDefinition<Query, Body> extends AdminRouteShape {
  /** Absent when there is nothing to ask for. */
  readonly query?: z.ZodType<Query>;
  /** Absent when there is nothing to say. */
  readonly body?: z.ZodType<Body>;
  handle(call: AdminCall<Query, Body>): Promise<AdminAnswer | AdminStream>;
}

export interface AdminRoute extends AdminRouteShape {
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  /** Checks what came before anything is done with it. */
  handle(call: AdminCall): Promise<AdminAnswer | AdminStream>;
}

const nothing = z.strictObject({});

/** The schemas that check what comes are those of the OpenAPI document. */
export function defineAdminRoute<Query, Body>(
  route: AdminRouteDefinition<Query, Body>,
): AdminRoute {
  // Without a schema of its own a route takes no field.
  const query: z.ZodType = route.query ?? nothing;
  const body: z.ZodType = route.body ?? nothing;
  return {
    ...route,
    ...{ query, body },
    handle(call) {
      const checked = {
        query: parseInput(query, call.query) as Query,
        body: (route.method === 'GET' ? {} : parseInput(body, call.body)) as Body,
      };
      return route.handle({ ...call, ...checked });
    },
  };
}
