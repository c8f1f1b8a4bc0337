import { isatty } from 'node:tty';
import { destination, pino } from 'pino';
import type { LogLevel } from '../config/config.ts';
import { formatLogLine } from '../lib/format-log-line.ts';
import type { Log } from '../lib/log.ts';

const STDERR = 2;

/** Programs read JSON; at a terminal, people read lines. */
export const shapeLogLine: (json: string) => string = isatty(STDERR)
  ? formatLogLine
  : (json) => json;

/** Logs to standard error. Standard output is for what people asked a command for. */
export function createLog(level: LogLevel, from: string): Log {
  const stderr = destination({ fd: STDERR, sync: true });
  return pino(
    {
      level,
      base: { pid: process.pid, from },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    { write: (line) => stderr.write(shapeLogLine(line)) },
  );
}
