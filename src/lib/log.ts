type LogFields = Readonly<Record<string, unknown>>;

/** What the code may say to an operator. pino provides it; see `log/create-log.ts`. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
