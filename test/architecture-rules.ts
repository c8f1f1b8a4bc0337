import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Which folders of src each folder may import. This table is the architecture. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  limits: ['lib'],
  protocol: ['lib', 'limits'],
  catalogue: ['lib', 'protocol'],
  config: ['lib', 'limits', 'protocol', 'catalogue'],
  timers: ['lib'],
  gateway: ['lib', 'timers', 'protocol', 'catalogue'],
  http: ['lib', 'timers', 'protocol', 'catalogue', 'gateway'],
  log: ['lib', 'protocol', 'config', 'gateway'],
  tracing: ['lib', 'protocol', 'gateway'],
  guards: ['lib'],
  keys: ['lib', 'protocol', 'guards'],
  redis: ['lib', 'timers'],
  quota: ['lib', 'timers', 'limits', 'protocol', 'catalogue', 'keys', 'redis'],
  events: ['lib', 'timers', 'limits', 'protocol', 'redis', 'quota'],
  books: ['lib', 'timers', 'protocol', 'catalogue', 'keys', 'redis', 'quota', 'accounts'],
  routing: ['lib', 'protocol'],
  upstream: ['lib', 'timers', 'protocol', 'routing'],
  accounts: ['lib', 'timers', 'limits', 'keys', 'redis', 'quota'],
  bookkeeping: ['lib', 'timers', 'config', 'log', 'catalogue', 'redis', 'books', 'ops'],
  'page-files': ['lib'],
  'catalogue-store': ['lib', 'config', 'redis', 'accounts'],
  ops: [
    'lib',
    'limits',
    'protocol',
    'config',
    'catalogue-store',
    'guards',
    'books',
    'accounts',
    'events',
    'page-files',
  ],
  fleet: ['lib', 'redis', 'accounts', 'ops', 'messages'],
  metrics: ['lib', 'limits', 'protocol', 'gateway', 'redis', 'quota'],
  messages: ['lib', 'config', 'routing', 'metrics'],
  supervise: ['lib', 'timers', 'quota', 'metrics', 'messages'],
  worker: [
    'lib',
    'timers',
    'protocol',
    'config',
    'catalogue',
    'gateway',
    'http',
    'log',
    'tracing',
    'guards',
    'keys',
    'redis',
    'quota',
    'routing',
    'upstream',
    'page-files',
    'metrics',
    'messages',
  ],
  primary: [
    'lib',
    'timers',
    'limits',
    'catalogue-store',
    'config',
    'catalogue',
    'http',
    'log',
    'keys',
    'redis',
    'quota',
    'books',
    'bookkeeping',
    'routing',
    'upstream',
    'accounts',
    'events',
    'ops',
    'fleet',
    'metrics',
    'messages',
    'supervise',
    'data-dir',
  ],
  'data-dir': ['lib'],
  doctor: ['lib', 'config', 'http', 'redis', 'books', 'routing', 'upstream', 'metrics', 'data-dir'],
  top: [],
  load: ['lib', 'protocol', 'upstream'],
  // The page in the browser uses only types of the server.
  dashboard: ['ops', 'protocol'],
  cli: [
    'lib',
    'timers',
    'limits',
    'protocol',
    'config',
    'catalogue',
    'log',
    'keys',
    'redis',
    'books',
    'accounts',
    'doctor',
    'top',
    'load',
  ],
  // Only main.ts knows the processes.
  '.': ['worker', 'primary', 'cli'],
};

/**
 * Pure folders compute: no package, no node: module, no clock, no timer, no randomness, no state
 * between calls.
 */
const PURE = ['lib', 'limits', 'protocol', 'catalogue', 'routing', 'top'];

/**
 * Folders that run elsewhere. They may import only types from other folders, since types vanish at
 * compile time.
 */
const TYPES_ONLY = ['dashboard'];

export const FILE_LINES_MAX = 300;
export const FOLDER_FILES_MAX = 20;

interface Ban {
  readonly text: string;
  readonly isBannedIn: (file: string) => boolean;
  readonly because: string;
}

const inPureFolder = (file: string) => PURE.includes(folderOf(file));

const BANS: readonly Ban[] = [
  {
    text: 'Date.now(',
    isBannedIn: inPureFolder,
    because: 'pure code takes a Clock, so tests own the time',
  },
  {
    text: 'performance.now(',
    isBannedIn: inPureFolder,
    because: 'pure code takes a Clock, so tests own the time',
  },
  { text: 'Math.random(', isBannedIn: inPureFolder, because: 'pure code is handed its randomness' },
  {
    text: 'process.',
    isBannedIn: inPureFolder,
    because: 'pure code does not know the process it runs in',
  },
  ...['setTimeout(', 'setInterval(', 'setImmediate('].map((text) => ({
    text,
    isBannedIn: inPureFolder,
    because: 'pure code starts no timer: src/timers does',
  })),
  {
    text: 'process.env',
    isBannedIn: (file) => folderOf(file) !== 'config',
    because: 'config is the only reader of the environment',
  },
  {
    text: "'uWebSockets.js'",
    isBannedIn: (file) => file !== 'src/http/load-uws.ts' && file !== 'src/http/uws-builds.ts',
    because: 'load-uws.ts alone chooses the native build',
  },
  {
    text: "import('@duckdb/node-api')",
    isBannedIn: (file) => file !== 'src/books/archive/open-duckdb.ts',
    because: 'open-duckdb.ts alone loads DuckDB, which only short-lived processes may do',
  },
  {
    text: '.cork(',
    isBannedIn: (file) =>
      file !== 'src/http/exchange.ts' &&
      file !== 'src/http/response-writer.ts' &&
      file !== 'src/http/whole-answer.ts' &&
      file !== 'src/redis/direct-line/create-command.ts' &&
      file !== 'src/upstream/http1/request-writer.ts',
    because:
      'the exchange alone knows about abort, cork and drain; the sockets of Redis and upstreams gather',
  },
  {
    text: 'new Redis(',
    isBannedIn: (file) => file !== 'src/redis/connect-redis.ts',
    because: 'connect-redis.ts alone holds the connection options',
  },
];

export interface Source {
  /** The path from the root of the repository: `src/http/exchange.ts`. */
  readonly file: string;
  readonly text: string;
}

function folderOf(file: string): string {
  return file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '.';
}

function importsOf(source: Source): string[] {
  const pattern =
    /(?:^|\n)(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|\bimport\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g;
  return [...source.text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** Imports that vanish with the types, since all their names are types. */
function typeImportsOf(source: Source): string[] {
  const pattern = /(?:^|\n)(?:import|export) type\b[^;]*?\bfrom\s+'([^']+)'/g;
  return [...source.text.matchAll(pattern)].map((match) => match[1] ?? '');
}

export function findImportProblems(source: Source): string[] {
  const problems: string[] = [];
  const from = folderOf(source.file);
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return [`${source.file}: folder ${from} is not in the table`];
  const typeImports = TYPES_ONLY.includes(from) ? typeImportsOf(source) : [];
  for (const specifier of importsOf(source)) {
    if (!specifier.startsWith('.')) {
      if (PURE.includes(from)) problems.push(`${source.file}: pure code imports ${specifier}`);
      continue;
    }
    const to = folderOf(relative('.', join(dirname(source.file), specifier)));
    if (to !== from && !allowed.includes(to)) {
      problems.push(`${source.file}: ${from} may not import ${to} (${specifier})`);
    } else if (to !== from && TYPES_ONLY.includes(from) && !typeImports.includes(specifier)) {
      problems.push(`${source.file}: ${from} may import only types of ${to} (${specifier})`);
    }
  }
  return problems;
}

/** Everything that loading a file loads, by the names in its imports: other files and packages. */
export function loadedBy(entry: string, code: readonly Source[]): Set<string> {
  const byName = new Map(code.map((source) => [source.file, source]));
  const loaded = new Set<string>();
  const follow = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const source = byName.get(name);
    if (source === undefined) return;
    const types = typeImportsOf(source);
    for (const specifier of importsOf(source)) {
      if (types.includes(specifier)) continue;
      follow(specifier.startsWith('.') ? join(dirname(name), specifier) : specifier);
    }
  };
  follow(entry);
  return loaded;
}

/** Files that are part of an import cycle. */
export function findCircles(code: readonly Source[]): string[] {
  const imports = new Map(
    code.map(({ file, text }) => [
      file,
      importsOf({ file, text })
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => join(dirname(file), specifier)),
    ]),
  );
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (imports.get(from) ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return code.map(({ file }) => file).filter((file) => reaches(file, file, new Set()));
}

export function findBannedCalls(source: Source): string[] {
  return BANS.filter((ban) => ban.isBannedIn(source.file) && source.text.includes(ban.text)).map(
    (ban) => `${source.file}: ${ban.text} is banned here: ${ban.because}`,
  );
}

/**
 * Caches whose content depends only on their keys, so that no caller can tell whether they exist.
 */
const KEPT_BY_PURE_CODE = new Set([
  'src/catalogue/price-usage.ts: knownMicros',
  'src/protocol/rates/encode-rate.ts: latest',
  'src/protocol/sse/find-marks.ts: finder',
]);

/** State that a pure file keeps between calls. */
export function findModuleState(source: Source): string[] {
  if (!inPureFolder(source.file)) return [];
  const pattern =
    /^(?:export )?(?:let (\w+)|const ([a-z]\w*)[^=\n]*= new (?:Weak)?(?:Map|Set)(?:<[^\n]*>)?\(\))/gm;
  return [...source.text.matchAll(pattern)]
    .map((match) => `${source.file}: ${match[1] ?? match[2]}`)
    .filter((state) => !KEPT_BY_PURE_CODE.has(state));
}

export function findLongFile(source: Source): string[] {
  const lines = source.text.split('\n').length - 1;
  return lines > FILE_LINES_MAX
    ? [`${source.file}: ${lines} lines, at most ${FILE_LINES_MAX}`]
    : [];
}

export function trackedFiles(...patterns: string[]): Source[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...patterns],
    { encoding: 'utf8' },
  );
  return listed
    .split('\n')
    .filter((file) => file !== '')
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}
