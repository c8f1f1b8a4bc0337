import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Operator } from '../../src/accounts/audit/audit-entry.ts';
import { type AuditLog, createAuditLog } from '../../src/accounts/audit/audit-log.ts';
import { createOperatorDirectory } from '../../src/accounts/operators/operator-directory.ts';
import { createSessions } from '../../src/accounts/operators/sessions.ts';
import type { Books } from '../../src/books/engine/books.ts';
import type { RowBudget } from '../../src/books/questions/row-budget.ts';
import { digestEndUser } from '../../src/keys/digest-end-user.ts';
import type { Readiness } from '../../src/lib/readiness.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { createCallerMemory } from '../../src/ops/access/caller-memory.ts';
import { loadAdminToken } from '../../src/ops/access/load-admin-token.ts';
import type { AdminHandlerOptions } from '../../src/ops/admin-handler.ts';
import { createEventHub, type EventHub } from '../../src/ops/event-hub.ts';
import type { FleetDesk } from '../../src/ops/fleet-desk.ts';
import type { ModelState } from '../../src/ops/model-state.ts';
import type { NodeState } from '../../src/ops/node-state.ts';
import type { ReloadResult } from '../../src/ops/reload-result.ts';
import { showNode } from '../../src/ops/show-node.ts';
import { startOpsServer } from '../../src/ops/start-ops-server.ts';
import { createLimitEventsDesk } from '../../src/primary/limit-events/create-limit-events-desk.ts';
import { openDirectory, systemClock, type TestDirectory } from '../accounts/use-directory.ts';
import type { CleanUp } from '../support/create-temp-dir.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { createMemoryLog, type MemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { standalone, tcp } from '../support/servers/redis-connection.ts';
import type { TestRedisServer } from '../support/servers/start-redis-server.ts';

import { openBooksDesk } from './open-books-desk.ts';
import { openCatalogueDesk } from './open-catalogue-desk.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TestOps {
  readonly port: number;
  readonly url: string;
  readonly dataDir: string;
  readonly token: Secret;
  readonly directory: TestDirectory;
  readonly books: Books;
  /** Of all questions. */
  readonly rowBudget: RowBudget;
  readonly log: MemoryLog;
  /** The configuration. A test may change it. */
  readonly models: Set<string>;
  readonly audit: AuditLog;
  readonly events: EventHub;
  readonly admin: AdminHandlerOptions;
  readiness: Readiness;
  /** A test may change it. */
  metrics: string;
  /** What the node would do. A test may change it. */
  reload: (who: Operator) => Promise<ReloadResult>;
  /** Sends a request below `/admin/v1` with the admin token. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A node that has just begun to start. */
const STARTING_NODE: NodeState = {
  node: {
    ...{ id: 'node-1', version: '1.2.3', startedMs: 0 },
    ...{ configPath: undefined, configVersion: 'abc-1' },
  },
  workers: [],
  upstreams: [],
  redis: { state: 'unknown', isEmbedded: false, topology: 'standalone', outForMs: 0 },
};

/** A node that is alone. */
const LONELY: FleetDesk = {
  readCluster: async () => ({
    ...{ answered_by: 'node-1', fleet: { state: 'up' }, nodes: [] },
    versions_differ: { config: false, catalogue: false, version: false },
  }),
  findNode: async (id) => ({
    ...{ id, state: 'up', heard_at: new Date(0).toISOString() },
    ...showNode(STARTING_NODE),
  }),
  findNodesWithoutLists: async () => [],
  readHistory: async () => [],
  reloadAll: async () => [{ id: 'node-1', status: 'reloaded', config_version: 'abc-2' }],
};

const TEST_MODEL: ModelState = {
  ...{ id: 'llm-opus-4.7', aliases: ['opus'], aliasPatterns: [] },
  ...{ contextTokensMax: 200_000, betaContextTokensMax: undefined, outputTokensMax: 32_000 },
  isEmbedding: false,
  price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite5m: 6.25, cacheWrite1h: 10 },
  routes: [{ upstream: 'main', weight: 1, priority: 1 }],
};

const WEBHOOKS = {
  endpoints: [{ name: 'sample', url: 'https://hooks.test/', secrets: [], events: [] }],
  ...{ hosts: ['hooks.test'], privateNetworks: [] },
};

/** The listener for operators as the primary runs it, in this process. */
export async function startTestOps(redis: TestRedisServer, cleanUp: CleanUp): Promise<TestOps> {
  const dataDir = createTempDir(cleanUp);
  const directory = await openDirectory(standalone(tcp(redis.port)));
  const { connection } = directory;
  const { books, desk, rowBudget } = await openBooksDesk(
    { connection, clock: systemClock },
    cleanUp,
  );
  const catalogue = await openCatalogueDesk({ directory, clock: systemClock }, cleanUp);
  const port = await findFreePort();
  const token = loadAdminToken({ configured: undefined, dataDir });
  const url = `http://127.0.0.1:${port}`;
  const log = createMemoryLog();
  const models = new Set(['llm-opus-4.7', 'opus']);
  const audit = createAuditLog({ connection, randomBytes, clock: systemClock, log });
  const operators = createOperatorDirectory({ connection, randomBytes, clock: systemClock });
  const sessions = createSessions({
    ...{ connection, randomBytes, clock: systemClock, lifeMs: 60_000, idleMs: 60_000 },
  });
  const limitEvents = createLimitEventsDesk({
    ...{ connection, settings: () => WEBHOOKS, userAgent: 'tollgate/1.2.3', clock: systemClock },
    resolve: () => Promise.reject(new Error('tests send nothing')),
  });
  const callers = createCallerMemory(systemClock);
  const events = createEventHub();
  const ops: TestOps = {
    ...{ audit, events },
    admin: {
      ...{ token, directory, audit, events, node: 'test-node', clock: systemClock },
      books: desk,
      limitEvents: {
        ...limitEvents,
        test: async (name) =>
          name === 'sample'
            ? { kind: 'failed', status: undefined, reason: 'nobody is there' }
            : undefined,
      },
      fleet: LONELY,
      publish: (event) => events.publish({ ...event, node: 'test-node' }),
      ...{ operators, sessions, callers, oidc: undefined },
      onCall: () => {},
      onSignIn: () => {},
      readNode: () => STARTING_NODE,
      reload: (who) => ops.reload(who),
      rateRules: () => ({
        windowMs: 60_000,
        plans: { starter: 60, pro: 300, business: 1_000, team: 2_000 },
      }),
      digestEndUser: (name) => digestEndUser(name, undefined),
      nameModel: (name) => (models.has(name) ? name : undefined),
      readModels: () => [TEST_MODEL],
      catalogue,
      readApiPlace: () => ({ endpoint: tcp(port), trustedProxies: 0 }),
    },
    ...{ port, url, dataDir, token, directory, books, rowBudget, log, models },
    ...{ readiness: 'ok', metrics: 'up 1\n' },
    reload: async () => ({ kind: 'reloaded', configVersion: 'abc-2' }),
    async call(method, path, body) {
      const response = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { status, headers } = response;
      return { status, headers, body: (await response.json()) as Answer['body'] };
    },
  };
  const server = await startOpsServer({
    endpoint: tcp(port),
    version: '1.2.3',
    readiness: () => ops.readiness,
    collectMetrics: async () => ({ contentType: 'text/plain', text: ops.metrics }),
    admin: ops.admin,
    dashboardDir: join(dataDir, 'no-dashboard'),
    docsDir: join(dataDir, 'no-docs'),
    log,
  });
  cleanUp(async () => {
    server.close();
    await audit.close();
  });
  return ops;
}

export function errorOf({ body }: Answer): { readonly code: string; readonly message: string } {
  return body['error'] as { code: string; message: string };
}
