import type { Log } from '../../src/lib/log.ts';

export interface MemoryLog extends Log {
  readonly lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[];
}

/** A log that keeps its entries for tests to inspect. */
export function createMemoryLog(): MemoryLog {
  const lines: MemoryLog['lines'] = [];
  const at =
    (level: string): Log['info'] =>
    (fields, message) => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
