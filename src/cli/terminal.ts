import { once } from 'node:events';
import { createInterface } from 'node:readline';

const CLEAR_LINE = '\r\x1b[K';

export interface Terminal {
  /** Both print whole lines and end the last one. */
  out(text: string): void;
  err(text: string): void;
  /**
   * Like `out`, but resolves when there is room for more, so that long output waits for its reader.
   */
  outPaced(text: string): Promise<void>;
  /**
   * Shows the progress of long work until the next call. An empty text only clears it. Nothing is
   * shown unless a person watches.
   */
  progress(text: string): void;
  /** Whether a person is there who can be asked. */
  isAttended(): boolean;
  /** Whether the answer is yes. */
  confirm(question: string): Promise<boolean>;
}

/**
 * Resolves when the reader of the output has been given all of it. A pipe takes only as much as it
 * has room for.
 */
export function flushOutput(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write('', () => resolve());
  });
}

/** What a shell reports of a program that SIGPIPE has ended. */
const EXIT_READER_LEFT = 141;

/**
 * Ends a command whose reader has left, such as `head`, as other programs do: not with 0, since a
 * check has not been completed. A node continues, since nobody needs to read what it prints.
 */
export function endWithReader(isNode: () => boolean): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isNode()) return;
    if (code !== 'EPIPE') process.stderr.write(`tollgate: cannot print: ${message}\n`);
    process.exit(code === 'EPIPE' ? EXIT_READER_LEFT : 1);
  });
  process.stderr.on('error', () => {});
}

export function createTerminal(): Terminal {
  let isProgressShown = false;
  const clear = () => {
    if (isProgressShown) process.stderr.write(CLEAR_LINE);
    isProgressShown = false;
  };
  return {
    out(text) {
      clear();
      process.stdout.write(`${text}\n`);
    },
    err(text) {
      clear();
      process.stderr.write(`${text}\n`);
    },
    async outPaced(text) {
      clear();
      if (!process.stdout.write(`${text}\n`)) await once(process.stdout, 'drain');
    },
    progress(text) {
      clear();
      if (text === '' || !process.stderr.isTTY) return;
      process.stderr.write(text);
      isProgressShown = true;
    },
    isAttended: () => process.stdin.isTTY && process.stderr.isTTY,
    async confirm(question) {
      clear();
      const answer = await ask(`${question} [y/N] `);
      return /^y(es)?$/i.test(answer.trim());
    },
  };
}

/** The line that the user typed. Empty if the input ends first, as after Ctrl-C or Ctrl-D. */
function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    let typed = '';
    lines.once('line', (line) => {
      typed = line;
      lines.close();
    });
    lines.once('close', () => {
      if (typed === '') process.stderr.write('\n');
      resolve(typed);
    });
    lines.setPrompt(question);
    lines.prompt();
  });
}
