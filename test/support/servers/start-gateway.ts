import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CleanUp, createTempDir } from '../create-temp-dir.ts';
import { isAlive } from '../is-alive.ts';
import { waitUntil } from '../wait-until.ts';
import { findFreePort } from './find-free-port.ts';

const PROGRAM = 'dist/test/support/probe-main.js';

interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Gateway {
  readonly port: number;
  readonly url: string;
  readonly opsUrl: string;
  readonly pid: number;
  readonly dataDir: string;
  readonly configPath: string;
  /** The key that the node generated for itself. */
  nodeId(): string;
  key(): string;
  stdout(): string;
  stderr(): string;
  logLines(): LogLine[];
  /** The line of a request in the log, once it is there. */
  waitForRequestLine(requestId: string | null): Promise<LogLine>;
  /** The living workers, according to the primary's log. */
  workerPids(): number[];
  setConfig(text: string): void;
  signal(signal: NodeJS.Signals): void;
  waitForLog(pattern: RegExp): Promise<void>;
  waitForListening(): Promise<void>;
  /** The exit code of the primary, or the signal that ended it. */
  waitForExit(): Promise<number | NodeJS.Signals>;
}

export interface GatewayOptions {
  readonly config?: string;
  readonly port?: number;
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** By default that of the tests. */
  readonly nodePath?: string;
  /** Flags of Node.js for all its processes. */
  readonly nodeFlags?: readonly string[];
  readonly cleanUp?: CleanUp;
  /** The program of an earlier release; by default that of this checkout, with probes. */
  readonly program?: string;
}

/** Starts the real cluster as a child process, with an embedded store in its own folder. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await launchGateway(options);
  await gateway.waitForListening();
  return gateway;
}

/** Starts the cluster without waiting, for starts that are meant to fail. */
export async function launchGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const port = options.port ?? (await findFreePort());
  const opsPort = await findFreePort();
  const cleanUp = options.cleanUp ?? onTestFinished;
  const dir = createTempDir(cleanUp);
  const dataDir = options.dataDir ?? join(dir, 'data');
  const configPath = join(dir, 'tollgate.yaml');
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(configPath, withGenerousPlans(options.config ?? 'workers: 2\n'));
  const program = options.program ?? PROGRAM;
  const args = [...(options.nodeFlags ?? []), program, 'start', '--config', configPath];
  const child = spawn(options.nodePath ?? process.execPath, args, {
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_LISTEN: `127.0.0.1:${port}`,
      TOLLGATE_OPS_LISTEN: `127.0.0.1:${opsPort}`,
      TOLLGATE_DATA_DIR: dataDir,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const exit = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  const logLines = () =>
    stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine);
  const deadPids = () =>
    new Set(
      logLines()
        .filter((line) => line.msg === 'worker died')
        .map((line) => line['workerPid']),
    );
  const gateway: Gateway = {
    port,
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    pid: child.pid ?? 0,
    dataDir,
    configPath,
    nodeId: () => readFileSync(join(dataDir, 'node-id'), 'utf8').trim(),
    key: () => readFileSync(join(dataDir, 'demo-key'), 'utf8').trim(),
    stdout: () => stdout,
    stderr: () => stderr,
    logLines,
    async waitForRequestLine(requestId) {
      const find = () => logLines().find((line) => line['requestId'] === requestId);
      await waitUntil(() => find() !== undefined, `${requestId} is logged`);
      return find() as LogLine;
    },
    workerPids: () => {
      const listening = logLines().filter((line) => line.msg === 'worker listens');
      return listening
        .map((line) => Number(line['workerPid']))
        .filter((pid) => !deadPids().has(pid));
    },
    setConfig: (text) => writeFileSync(configPath, withGenerousPlans(text)),
    signal: (signal) => {
      child.kill(signal);
    },
    waitForLog: (pattern) =>
      waitUntil(
        () => pattern.test(stderr),
        () => `${pattern} is logged; got ${stderr}`,
      ),
    waitForListening: () =>
      waitUntil(
        () => {
          if (child.exitCode !== null || child.signalCode !== null) {
            throw new Error(`the gateway ended: ${stdout}${stderr}`);
          }
          return stdout.includes('Try it:');
        },
        () => `the gateway listens: ${stdout}${stderr}`,
      ),
    waitForExit: () => exit,
  };
  cleanUp(async () => {
    await endProcess(child, exit);
    // A killed primary leaves its store running, for the next start to take over.
    const stores = logLines().map((line) => Number(line['redisPid'] ?? 0));
    for (const pid of new Set(stores)) if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return gateway;
}

/** Asks the primary to stop first, so that workers and the embedded store end with it. */
async function endProcess(child: ChildProcess, exit: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exit;
  clearTimeout(killTimer);
}

/** Most tests are not about limits, and send far more requests than a real plan allows. */
function withGenerousPlans(config: string): string {
  return /^plans:/m.test(config) ? config : `${config}\nplans: {pro: 1000000, team: 1000000}\n`;
}
