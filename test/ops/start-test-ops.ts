import { join } from 'node:path';
import { createLedgerDesk, type LedgerDesk } from '../../src/ledger/create-ledger-desk.ts';
import type { Secret } from '../../src/lib/secret.ts';
import { loadAdminToken } from '../../src/ops/load-admin-token.ts';
import { startOpsServer } from '../../src/ops/start-ops-server.ts';
import { openDirectory, type TestDirectory } from '../accounts/use-directory.ts';
import type { CleanUp } from '../support/create-temp-dir.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/find-free-port.ts';
import { createMemoryLog, type MemoryLog } from '../support/memory-log.ts';
import { standalone, tcp } from '../support/redis-connection.ts';
import type { TestRedisServer } from '../support/start-redis-server.ts';

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
  readonly ledger: LedgerDesk;
  readonly log: MemoryLog;
  /** What is configured; may be changed. */
  readonly models: Set<string>;
  isReady: boolean;
  /** With the admin token, below `/admin/v1`. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** The listener for operators as the primary runs it, in this process. */
export async function startTestOps(redis: TestRedisServer, cleanUp: CleanUp): Promise<TestOps> {
  const dataDir = createTempDir(cleanUp);
  const directory = await openDirectory(standalone(tcp(redis.port)));
  const { connection } = directory;
  const ledger = createLedgerDesk({ connection, dirs: [join(dataDir, 'ledger')] });
  const port = await findFreePort();
  const token = loadAdminToken({ configured: undefined, dataDir });
  const url = `http://127.0.0.1:${port}`;
  const log = createMemoryLog();
  const models = new Set(['llm-opus-4.7', 'opus']);
  const ops: TestOps = {
    ...{ port, url, dataDir, token, directory, ledger, log, models },
    isReady: true,
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
    isReady: () => ops.isReady,
    admin: { token, directory, ledger, isModel: (name) => models.has(name) },
    log,
  });
  cleanUp(() => server.close());
  return ops;
}

export function errorOf({ body }: Answer): { readonly code: string; readonly message: string } {
  return body['error'] as { code: string; message: string };
}
