import { execFile } from 'node:child_process';
import { vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';

const PROGRAM = 'dist/src/main.js';
const VARIABLES = [
  ...['TOLLGATE_ADMIN_URL', 'TOLLGATE_ADMIN_TOKEN', 'TOLLGATE_DATA_DIR', 'TOLLGATE_KEY'],
];

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type Variables = Readonly<Record<string, string>>;

/** The program as a child process, with these variables and no others of ours. */
export function runProgram(env: Variables, ...args: readonly string[]): Promise<Run> {
  return launch({ env, args });
}

/** The same with this text on its standard input. */
export function pipeProgram(input: string, env: Variables, ...args: readonly string[]) {
  return launch({ input, env, args });
}

interface Launch {
  readonly input?: string;
  readonly env: Variables;
  readonly args: readonly string[];
}

function launch({ input, env, args }: Launch): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } };
    const child = execFile(process.execPath, [PROGRAM, ...args], options, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    if (input !== undefined) child.stdin?.end(input);
  });
}

/** The same in this process, which costs less. Only one can run at a time. */
export async function runHere(env: Variables, ...args: readonly string[]): Promise<Run> {
  const printed = { out: '', err: '' };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed.out += String(text);
      return true;
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      printed.err += String(text);
      return true;
    }),
  ];
  for (const name of VARIABLES) vi.stubEnv(name, env[name]);
  try {
    return { code: await runCli(['node', 'tollgate', ...args], refuseToRun), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

function refuseToRun(): never {
  throw new Error('a test of the command line runs no node inside of itself');
}
