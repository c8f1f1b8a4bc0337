import { destination, pino } from 'pino';
import type { LogLevel } from '../config/config.ts';
import type { Log } from '../lib/log.ts';

const STDERR = 2;

/** JSON lines on standard error; standard output is left to what people asked a command for. */
export function createLog(level: LogLevel, from: string): Log {
  return pino(
    {
      level,
      base: { pid: process.pid, from },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    destination({ fd: STDERR, sync: true }),
  );
}
