import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { waitUntil } from '../wait-until.ts';

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
export async function watchCommands(port: number, host = '127.0.0.1'): Promise<CommandWatch> {
  const client = new Redis({ host, port, connectionName: WATCH });
  const seen: MonitorLine[] = [];
  const monitor = connect({ host, port });
  let isMonitoring = false;
  createInterface({ input: monitor }).on('line', (line) => {
    if (line === '+OK') isMonitoring = true;
    const parsed = parseMonitorLine(line);
    if (parsed !== undefined && parsed.source !== 'lua') seen.push(parsed);
  });
  // The client of Redis breaks if a command arrives together with the first answer.
  monitor.write('MONITOR\r\n');
  await waitUntil(() => isMonitoring, 'commands are watched');
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
      monitor.destroy();
      client.disconnect();
    },
  };
}

interface MonitorLine {
  /** The address of the connection, or `lua`. */
  readonly source: string;
  readonly args: readonly string[];
}

function parseMonitorLine(line: string): MonitorLine | undefined {
  const [, source, texts] = /^\+\S+ \[\d+ (\S+)\] (.*)$/.exec(line) ?? [];
  if (source === undefined || texts === undefined) return undefined;
  const args = [...texts.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text);
  return { source, args };
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
