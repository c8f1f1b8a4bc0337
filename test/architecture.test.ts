import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Which folders of src each folder may import. This table is the architecture; README draws it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  protocol: ['lib'],
  config: ['lib'],
  catalogue: ['lib', 'protocol'],
  gateway: ['lib', 'protocol', 'catalogue'],
  http: ['lib', 'protocol', 'catalogue', 'gateway'],
  log: ['lib', 'protocol', 'config', 'gateway'],
  tracing: ['lib', 'protocol', 'gateway'],
  guards: ['lib'],
  keys: ['lib', 'protocol', 'guards'],
  redis: ['lib'],
  quota: ['lib', 'protocol', 'catalogue', 'keys', 'redis'],
  ledger: ['lib', 'protocol', 'keys', 'redis', 'quota'],
  routing: ['lib', 'protocol'],
  upstream: ['lib', 'protocol', 'routing'],
  accounts: ['lib', 'keys', 'redis', 'quota'],
  'page-files': ['lib'],
  ops: ['lib', 'protocol', 'guards', 'ledger', 'accounts', 'page-files'],
  metrics: ['lib', 'protocol', 'gateway', 'redis', 'quota'],
  messages: ['lib', 'config', 'routing', 'ops', 'metrics'],
  supervise: ['lib', 'quota', 'ops', 'metrics', 'messages'],
  worker: [
    'lib',
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
    'ops',
    'metrics',
    'messages',
  ],
  primary: [
    'lib',
    'config',
    'catalogue',
    'http',
    'log',
    'keys',
    'redis',
    'quota',
    'ledger',
    'routing',
    'upstream',
    'accounts',
    'ops',
    'metrics',
    'messages',
    'supervise',
    'data-dir',
  ],
  'data-dir': [],
  doctor: ['lib', 'config', 'http', 'redis', 'routing', 'upstream', 'metrics', 'data-dir'],
  top: [],
  load: ['lib', 'upstream'],
  // The page in the browser: of the server it has types alone.
  dashboard: ['ops', 'protocol'],
  cli: ['lib', 'config', 'log', 'ledger', 'accounts', 'doctor', 'top', 'load'],
  // Nobody but main.ts knows the processes.
  '.': ['worker', 'primary', 'cli'],
};

/** Pure folders compute: no package, no node: module, no clock, no chance. They are tested without set-up. */
const PURE = ['lib', 'protocol', 'catalogue', 'routing', 'top'];

/** Folders that run elsewhere: of the others they may import only types, which leave nothing behind. */
const TYPES_ONLY = ['dashboard'];

const FILE_LINES_MAX = 300;

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
    text: '.cork(',
    isBannedIn: (file) =>
      file !== 'src/http/exchange.ts' &&
      file !== 'src/http/response-writer.ts' &&
      file !== 'src/redis/direct-line/create-command.ts',
    because:
      'the exchange alone knows about abort, cork and drain; of the sockets, those of Redis gather',
  },
  {
    text: 'new Redis(',
    isBannedIn: (file) => file !== 'src/redis/connect-redis.ts',
    because: 'connect-redis.ts alone holds the connection options',
  },
];

interface Source {
  /** From the top of the repository: `src/http/exchange.ts`. */
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

/** Those that are gone when types are: all names of the import are types. */
function typeImportsOf(source: Source): string[] {
  const pattern = /(?:^|\n)(?:import|export) type\b[^;]*?\bfrom\s+'([^']+)'/g;
  return [...source.text.matchAll(pattern)].map((match) => match[1] ?? '');
}

function findImportProblems(source: Source): string[] {
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

/** All that a file loads when it is loaded itself, by the names in its imports: other files and packages. */
function loadedBy(entry: string, code: readonly Source[]): Set<string> {
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

function findBannedCalls(source: Source): string[] {
  return BANS.filter((ban) => ban.isBannedIn(source.file) && source.text.includes(ban.text)).map(
    (ban) => `${source.file}: ${ban.text} is banned here: ${ban.because}`,
  );
}

function findLongFile(source: Source): string[] {
  const lines = source.text.split('\n').length - 1;
  return lines > FILE_LINES_MAX
    ? [`${source.file}: ${lines} lines, at most ${FILE_LINES_MAX}`]
    : [];
}

function trackedFiles(...patterns: string[]): Source[] {
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

describe('the source tree', () => {
  const code = trackedFiles('src/**/*.ts', 'src/**/*.tsx', 'src/*.ts');

  it('imports only in the direction of the table', () => {
    expect(code.length).toBeGreaterThan(0);
    expect(code.flatMap(findImportProblems)).toEqual([]);
  });

  it('makes no banned call', () => {
    expect(code.flatMap(findBannedCalls)).toEqual([]);
  });

  it('loads few packages into a worker: each takes memory as often as there are workers', () => {
    const loaded = [...loadedBy('src/worker/run-worker-process.ts', code)];
    expect(loaded).toContain('src/worker/start-worker.ts');
    const packages = loaded.filter((name) => !name.startsWith('src/') && !name.startsWith('node:'));
    expect(packages.toSorted()).toEqual([
      'ioredis',
      'msgpackr',
      'pino',
      'rate-limiter-flexible/lib/RateLimiterMemory.js',
    ]);
  });

  it(`has no file over ${FILE_LINES_MAX} lines`, () => {
    expect(
      trackedFiles(
        ...['src/**/*.ts', 'src/**/*.tsx', 'src/**/*.css', 'src/**/*.lua'],
        ...['test/**/*.ts', 'bench/**/*.ts'],
      ).flatMap(findLongFile),
    ).toEqual([]);
  });

  it('has only the agreed entries at its top', () => {
    const top = new Set(trackedFiles('*').map(({ file }) => file.split('/')[0] ?? ''));
    const agreed =
      /^(package(-lock)?\.json|tsconfig\.json|src|bench|test|deploy|README\.md|LICENSE|\..+)$/;
    expect([...top].filter((entry) => !agreed.test(entry))).toEqual([]);
  });
});

describe('the rules themselves', () => {
  const pureFile = (text: string): Source => ({ file: 'src/lib/sample.ts', text });

  it('refuse a pure file that imports a package or a node module', () => {
    expect(findImportProblems(pureFile("import { readFileSync } from 'node:fs';\n"))).toEqual([
      'src/lib/sample.ts: pure code imports node:fs',
    ]);
  });

  it('refuse an import against the direction of the table, whichever way it is written', () => {
    const texts = [
      "import { startServer } from '../http/server.ts';\n",
      "export * from '../http/server.ts';\n",
      "const late = await import('../http/server.ts');\n",
      "import '../http/server.ts';\n",
      "import {\n  startServer,\n} from '../http/server.ts';\n",
    ];
    for (const text of texts) {
      expect(findImportProblems(pureFile(text)), text).toEqual([
        'src/lib/sample.ts: lib may not import http (../http/server.ts)',
      ]);
    }
  });

  it('let the page in the browser have types of the server, and nothing that runs', () => {
    const pageFile = (text: string) =>
      findImportProblems({ file: 'src/dashboard/parts/sample.tsx', text });
    expect(pageFile("import type { A } from '../../ops/a.ts';\n")).toEqual([]);
    expect(pageFile("import { a } from '../../ops/a.ts';\n")).toEqual([
      'src/dashboard/parts/sample.tsx: dashboard may import only types of ops (../../ops/a.ts)',
    ]);
    expect(pageFile("import type { A } from '../../redis/a.ts';\n")).toHaveLength(1);
    const serverFile = { file: 'src/ops/a.ts', text: "import { a } from '../dashboard/a.ts';\n" };
    expect(findImportProblems(serverFile)).toHaveLength(1);
  });

  it('refuse a folder that the table does not know', () => {
    expect(findImportProblems({ file: 'src/utils/sample.ts', text: '' })).toHaveLength(1);
  });

  it('refuse each banned call with its reason', () => {
    expect(findBannedCalls(pureFile('const now = Date.now();'))[0]).toContain('takes a Clock');
    expect(findBannedCalls({ file: 'src/http/sample.ts', text: 'process.env' })).toHaveLength(1);
    expect(findBannedCalls({ file: 'src/config/sample.ts', text: 'process.env' })).toEqual([]);
  });

  it('refuse a file that is too long', () => {
    expect(findLongFile(pureFile('\n'.repeat(FILE_LINES_MAX)))).toEqual([]);
    expect(findLongFile(pureFile('\n'.repeat(FILE_LINES_MAX + 1)))).toHaveLength(1);
  });
});
