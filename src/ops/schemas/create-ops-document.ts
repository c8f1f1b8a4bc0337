import { z } from 'zod';
import { createOpenApiDocument } from '../../protocol/create-openapi-document.ts';
import type { AdminRoute } from '../routes/admin-route.ts';
import { problemAnswer } from './answer-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const SESSION_TEXT =
  'the cookie of a session of the dashboard, beside the header x-tollgate-session; over HTTPS its name begins with __Host-';

/**
 * The client routes and the admin API as OpenAPI 3.1. The admin API is described by the schemas
 * that check its input.
 */
export function createOpsDocument(version: string, routes: readonly AdminRoute[]): Json {
  const document = createOpenApiDocument(version);
  const components = document['components'] as Record<string, Json>;
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describe(route) };
  }
  return {
    ...document,
    paths: { ...(document['paths'] as Json), ...paths },
    components: {
      ...components,
      securitySchemes: {
        ...components['securitySchemes'],
        adminToken: { type: 'http', scheme: 'bearer', description: 'the admin token' },
        operatorToken: { type: 'http', scheme: 'bearer', description: 'the token of an operator' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: 'tollgate-session' },
          description: SESSION_TEXT,
        },
      },
      schemas: { ...components['schemas'], AdminProblem: describeSchema(problemAnswer, 'output') },
    },
  };
}

function describe(route: AdminRoute): Json {
  const { summary, role, method, answer, part, otherAnswers = [] } = route;
  const parameters = [...describePath(route), ...describeQuery(route)];
  const schema = describeSchema(route.body, 'input');
  const requestBody = {
    // A body without a required field may be left out.
    ...(schema['required'] !== undefined && { required: true }),
    content: { 'application/json': { schema } },
  };
  const content =
    typeof answer === 'string'
      ? { [answer]: part === undefined ? {} : { schema: describeSchema(part, 'output') } }
      : {
          'application/json': { schema: describeSchema(answer, 'output') },
          ...Object.fromEntries(otherAnswers.map((type) => [type, {}])),
        };
  const problem = { schema: { $ref: '#/components/schemas/AdminProblem' } };
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(method !== 'GET' && { requestBody }),
    security: [{ adminToken: [] }, { operatorToken: [] }, { session: [] }],
    'x-tollgate-role': role,
    responses: {
      '2XX': { description: 'It was done', content },
      default: { description: 'A refusal', content: { 'application/json': problem } },
    },
  };
}

function describePath({ path }: AdminRoute): Json[] {
  return ['id', 'month']
    .filter((name) => path.includes(`{${name}}`))
    .map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function describeQuery({ query }: AdminRoute): Json[] {
  const { properties = {}, required = [] } = describeSchema(query, 'input') as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', schema },
    ...(required.includes(name) && { required: true }),
  }));
}

function describeSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io });
  return described;
}
