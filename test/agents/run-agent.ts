import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import type { Gateway } from '../support/servers/start-gateway.ts';
import { startTunnel } from './start-tunnel.ts';

export const AGENTS_DIR = resolve('test/agents');
const PACKAGES_DIR = join(AGENTS_DIR, 'node_modules');
const CODEX = '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';
const PAGE = readFileSync('src/docs/coding-agents.md', 'utf8');
const QUESTION = '"What does note.txt say?"';

/** Keeps agents from contacting anything but the gateway, whatever the machine can reach. */
const STAY_AT_HOME = {
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  PI_OFFLINE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  CONTINUE_TELEMETRY_ENABLED: '0',
};

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

interface Run {
  readonly gateway: Gateway;
  /** A section of the page, and the number of a command in it. */
  readonly title: string;
  readonly number?: number;
  /** Additional arguments of the command. */
  readonly options?: string;
  /** The tool with which the agent reads a file, and the name of its argument. */
  readonly tool: readonly [name: string, argument: string];
  /** What stands before the file's name in the argument. */
  readonly program?: string;
  /** Whether it can reach nothing but the gateway. */
  readonly isAlone?: boolean;
  /** That of the gateway, if there is none. */
  readonly key?: string;
  readonly changeFile?: (text: string) => string;
}

/** The page's settings file for the gateway. */
export function readPageSettings(): string {
  return filesOf('The gateway')[0]?.text ?? '';
}

/**
 * Starts an agent with the page's files in a separate home folder, and asks about a file with a
 * command from the page. The question tells the simulated upstream what to do.
 */
export async function runAgent(run: Run): Promise<Ended> {
  const { gateway, title, number = 0, options = '', tool, changeFile = (text) => text } = run;
  const { program = '', key = gateway.key() } = run;
  const dir = createTempDir(onTestFinished);
  const folder = (name: string) => {
    mkdirSync(join(dir, name));
    return join(dir, name);
  };
  const home = folder('home');
  const work = folder('work');
  const note = join(work, 'note.txt');
  writeFileSync(note, 'The word is marmalade.\n');
  for (const { path, text } of filesOf(title)) {
    const place = path.replace('~', home);
    mkdirSync(dirname(place), { recursive: true });
    const own = text
      .replaceAll('sk-gw2-YOUR-KEY', key)
      .replaceAll('http://127.0.0.1:8080', gateway.url);
    writeFileSync(place, changeFile(own));
  }
  const [name, argument] = tool;
  const directive = `[[tool ${name} ${JSON.stringify({ [argument]: program + note })}]]`;
  const written = (commandsOf(title)[number] ?? '').replaceAll('sk-gw2-YOUR-KEY', key);
  const command = `${written.replace(QUESTION, '"$QUESTION"')} ${options}`;
  const tunnel = run.isAlone ? await startTunnel(dir, gateway.port, onTestFinished) : undefined;
  return await runCommand(tunnel?.wrap(command) ?? command, work, {
    PATH: `${linkPrograms(folder('bin'))}:${process.env['PATH']}`,
    HOME: home,
    QUESTION: `${QUESTION} ${directive}`,
    ...STAY_AT_HOME,
  });
}

function runCommand(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn('bash', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  return new Promise((done) => child.once('close', (code) => done({ code, output })));
}

/**
 * Links the programs under their usual names. Install scripts would do this, but they never run.
 */
function linkPrograms(bin: string): string {
  const natives = (folder: string, prefix: string) =>
    readdirSync(join(PACKAGES_DIR, folder))
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(PACKAGES_DIR, folder, name));
  const [claude = ''] = natives('@anthropic-ai', 'claude-code-');
  const [opencode = ''] = natives('.', 'opencode-');
  symlinkSync(join(claude, 'claude'), join(bin, 'claude'));
  symlinkSync(join(opencode, 'bin', 'opencode'), join(bin, 'opencode'));
  symlinkSync(join(PACKAGES_DIR, CODEX), join(bin, 'codex'));
  for (const name of ['pi', 'cn']) symlinkSync(join(PACKAGES_DIR, '.bin', name), join(bin, name));
  return bin;
}

function partOf(title: string): string {
  const start = PAGE.indexOf(`## ${title}\n`);
  if (start === -1) throw new Error(`the page has no part ${title}`);
  const end = PAGE.indexOf('\n## ', start);
  return PAGE.slice(start, end === -1 ? undefined : end);
}

/** On the page, each file follows its name. */
function filesOf(title: string) {
  const files = partOf(title).matchAll(/^`([^`]+)`:\n\n```\w+\n([\s\S]*?)```/gm);
  return [...files].map(([, path = '', text = '']) => ({ path, text }));
}

function commandsOf(title: string): string[] {
  return [...partOf(title).matchAll(/```sh\n(.*)\n```/g)].map(([, command = '']) => command);
}
