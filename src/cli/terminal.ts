const CLEAR_LINE = '\r\x1b[K';

export interface Terminal {
  /** Both print their text as whole lines and end the last one. */
  out(text: string): void;
  err(text: string): void;
  /** Shows how far long work is, until the next call; '' only takes it away. Nobody but people sees it. */
  progress(text: string): void;
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
    progress(text) {
      clear();
      if (text === '' || !process.stderr.isTTY) return;
      process.stderr.write(text);
      isProgressShown = true;
    },
  };
}
