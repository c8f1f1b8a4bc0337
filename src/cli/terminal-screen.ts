import type { WriteStream } from 'node:tty';

const OTHER_SCREEN = '\u001b[?1049h';
const USUAL_SCREEN = '\u001b[?1049l';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const TOP_LEFT = '\u001b[H';
const CLEAR_BELOW = '\u001b[J';

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface TerminalScreen {
  size(): { readonly columns: number; readonly rows: number };
  show(lines: readonly string[]): void;
  /** Resolves at the first signal that ends the program. */
  readonly ended: Promise<undefined>;
  /** Restores the terminal. */
  close(): void;
}

export function openScreen(stream: WriteStream): TerminalScreen {
  let end = () => {};
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  stream.write(OTHER_SCREEN + HIDE_CURSOR);
  return {
    size: () => ({ columns: stream.columns, rows: stream.rows }),
    show(lines) {
      // No line feed after the last line, since that could scroll. One write, so that nothing
      // flickers.
      stream.write(TOP_LEFT + CLEAR_BELOW + lines.join('\r\n'));
    },
    ended,
    close() {
      for (const signal of ENDING_SIGNALS) process.off(signal, end);
      stream.write(SHOW_CURSOR + USUAL_SCREEN);
    },
  };
}
