import { spawn } from 'node:child_process';

const OUTPUT_CHARS_MAX = 16_384;

export interface CommandResult {
  /** Undefined if the program does not exist, was ended by a signal, or took too long. */
  readonly exitCode: number | undefined;
  /** The end of the program's output, or why it did not run. */
  readonly output: string;
}

export type RunCommand = (
  command: readonly [program: string, ...args: string[]],
  timeoutMs: number,
) => Promise<CommandResult>;

/** Runs a program without a shell and without input, in the environment of this process. */
export const runCommand: RunCommand = ([program, ...args], timeoutMs) => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (data: unknown) => {
    output = (output + String(data)).slice(-OUTPUT_CHARS_MAX);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve) => {
    const finish = (exitCode: number | null) => {
      clearTimeout(timer);
      resolve({ exitCode: exitCode ?? undefined, output });
    };
    const timer = setTimeout(() => {
      keep(`\nended after ${timeoutMs / 1_000} s`);
      child.kill('SIGTERM');
      // A program that ignores the signal is left behind, because waiting for it could take for
      // ever.
      child.unref();
      child.stdout.destroy();
      child.stderr.destroy();
      finish(null);
    }, timeoutMs);
    child.once('error', (error) => {
      keep(error.message);
      finish(null);
    });
    child.once('close', finish);
  });
};
