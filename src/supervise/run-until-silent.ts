import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';

const MESSAGE_CHARS_MAX = 2_000;

interface RunOptions {
  readonly input: string;
  /** How long it may run without output. */
  readonly silenceMaxMs: number;
  /** Kills it. */
  readonly signal: AbortSignal;
}

/**
 * Runs Node in a process of its own, and kills it if it writes nothing to its standard output for
 * too long. If it fails, throws what it wrote to its standard error.
 */
export async function runUntilSilent(
  command: readonly string[],
  { input, silenceMaxMs, signal }: RunOptions,
): Promise<void> {
  const child = spawn(process.execPath, command, {
    ...{ stdio: 'pipe', killSignal: 'SIGKILL', signal },
  });
  const silence = setTimeout(() => child.kill('SIGKILL'), silenceMaxMs).unref();
  child.stdout.on('data', () => silence.refresh());
  // If it ends before it has read them, what it has written says why.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let written = '';
  child.stderr.on('data', (data) => {
    written = `${written}${data}`.slice(-MESSAGE_CHARS_MAX);
  });
  try {
    const [code, endedBy] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) throw new Error(written.trim() || `the process ended with ${endedBy ?? code}`);
  } finally {
    clearTimeout(silence);
  }
}
