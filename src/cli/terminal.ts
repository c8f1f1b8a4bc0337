import { once } from 'node:events';
import { createInterface } from 'node:readline';

const CLEAR_LINE = '\r\x1b[K';

export interface Terminal {
  /** Both print their text as whole lines and end the last one. */
  out(text: string): void;
  err(text: string): void;
  /** Like `out`; resolves when there is room for more, so that long output waits for its reader. */
  outPaced(text: string): Promise<void>;
  /** Shows how far long work is, until the next call; '' only takes it away. Nobody but people sees it. */
  progress(text: string): void;
  /** Whether somebody sits there who can be asked. */
  isAttended(): boolean;
  /** Whether the answer is yes. */
  confirm(question: string): Promise<boolean>;
}

/** Resolves when whoever reads the output has been given all of it: a pipe takes no more than it has room for. */
export function flushOutput(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write('', () => resolve());
  });
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

/** The line that was typed; empty when there is none, as after Ctrl-C or Ctrl-D. */
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
