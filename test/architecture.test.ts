import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  FILE_LINES_MAX,
  FOLDER_FILES_MAX,
  findBannedCalls,
  findCircles,
  findImportProblems,
  findLongFile,
  findModuleState,
  loadedBy,
  type Source,
  trackedFiles,
} from './architecture-rules.ts';

describe('the source tree', () => {
  const code = trackedFiles('src/**/*.ts', 'src/**/*.tsx', 'src/*.ts');

  it('imports only in the direction of the table', () => {
    expect(code.length).toBeGreaterThan(0);
    expect(code.flatMap(findImportProblems)).toEqual([]);
  });

  it('makes no banned call', () => {
    expect(code.flatMap(findBannedCalls)).toEqual([]);
  });

  it('keeps nothing between calls in pure folders', () => {
    expect(code.flatMap(findModuleState)).toEqual([]);
  });

  it(`has no folder with more than ${FOLDER_FILES_MAX} files directly in it`, () => {
    const counts = new Map<string, number>();
    for (const { file } of trackedFiles('src', 'test', 'bench')) {
      // The pages of the handbook are no code.
      if (file.endsWith('.md')) continue;
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const full = [...counts].filter(([, count]) => count > FOLDER_FILES_MAX);
    expect(full.map(([folder]) => folder)).toEqual([]);
  });

  it('imports in no circle, types included', () => {
    expect(findCircles(code)).toEqual([]);
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
        ...['src/**/*.ts', 'src/**/*.tsx', 'src/**/*.mjs', 'src/**/*.css', 'src/**/*.lua'],
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

  it('refuse a pure file that keeps state, and a circle of two', () => {
    expect(findModuleState(pureFile('let count = 0;\n'))).toHaveLength(1);
    expect(findModuleState(pureFile('const seen = new Map<string, number>();\n'))).toHaveLength(1);
    expect(findModuleState(pureFile("const NAMES = new Map([['a', 1]]);\n"))).toEqual([]);
    const circle = [
      { file: 'src/lib/a.ts', text: "import type { B } from './b.ts';\n" },
      { file: 'src/lib/b.ts', text: "import { a } from './a.ts';\n" },
      { file: 'src/lib/c.ts', text: "import { a } from './a.ts';\n" },
    ];
    expect(findCircles(circle)).toEqual(['src/lib/a.ts', 'src/lib/b.ts']);
  });

  it('refuse a file that is too long', () => {
    expect(findLongFile(pureFile('\n'.repeat(FILE_LINES_MAX)))).toEqual([]);
    expect(findLongFile(pureFile('\n'.repeat(FILE_LINES_MAX + 1)))).toHaveLength(1);
  });
});
