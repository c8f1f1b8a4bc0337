import { Redis } from 'ioredis';

/** One command as it came over a connection; what a script does by itself is not counted. */
export interface SeenCommand {
  /** In lower case. */
  readonly name: string;
  /** The first Redis key of a script; else the first argument. */
  readonly subject: string;
  /** The name of the connection, without the number of a worker; `ended` when it is gone. */
  readonly connection: string;
}

export interface CommandWatch {
  /**
   * Every command since the start, except those of connections without a name, which no node has.
   */
  read(): Promise<readonly SeenCommand[]>;
  stop(): void;
}

const WATCH = 'command-watch';
const SCRIPTS = ['evalsha', 'eval'];

/** Notes every command that a server gets, from now on. */
export async function watchCommands(port: number): Promise<CommandWatch> {
  const client = new Redis({ host: '127.0.0.1', port, connectionName: WATCH });
  const monitor = await client.monitor();
  const seen: { readonly args: readonly string[]; readonly source: string }[] = [];
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (source !== 'lua') seen.push({ args, source });
  });
  return {
    async read() {
      const names = await readConnectionNames(client);
      return seen.flatMap(({ args, source }) => {
        const connection = names.get(source) ?? 'ended';
        if (connection === '' || connection === WATCH) return [];
        const name = (args[0] ?? '').toLowerCase();
        const subject = (SCRIPTS.includes(name) ? args[3] : args[1]) ?? '';
        return [{ name, subject, connection: connection.replace(/^worker-\d+/, 'worker') }];
      });
    },
    stop() {
      monitor.disconnect();
      client.disconnect();
    },
  };
}

/** By address and port. */
async function readConnectionNames(client: Redis): Promise<ReadonlyMap<string, string>> {
  const list = String(await client.client('LIST'));
  return new Map(
    list.split('\n').flatMap((line) => {
      const [, address, name] = / addr=(\S+) .*? name=(\S*)/.exec(line) ?? [];
      return address === undefined || name === undefined ? [] : [[address, name] as const];
    }),
  );
}
