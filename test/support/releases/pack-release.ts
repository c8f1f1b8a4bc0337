import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { createTempDir } from '../create-temp-dir.ts';

/**
 * `node dist/test/support/releases/pack-release.js COMMIT NAME` builds an earlier release, without its
 * pages, and packs it for the tests that run it beside the present one. A file of its own for each
 * module, so that its scripts are found beside them. Packages are those of this checkout.
 */
const [, , commit = '', name = ''] = process.argv;
const ENTRIES = ['main', 'bookkeeping/run-ingest-thread', 'bookkeeping/run-answer-thread'];

const undos: (() => void | Promise<void>)[] = [];
const dir = createTempDir((undo) => undos.push(undo));
const archive = execFileSync('git', ['archive', commit, 'src', 'package.json'], {
  maxBuffer: 1e9,
});
execFileSync('tar', ['x', '-C', dir], { input: archive });
symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
const target = join(dir, 'target');
await build({
  configFile: false,
  root: dir,
  logLevel: 'warn',
  publicDir: false,
  build: {
    ssr: true,
    target: 'node20',
    minify: true,
    outDir: join(target, 'src'),
    rolldownOptions: {
      input: ENTRIES.map((entry) => join(dir, 'src', `${entry}.ts`)),
      output: {
        format: 'esm',
        preserveModules: true,
        preserveModulesRoot: join(dir, 'src'),
        entryFileNames: '[name].js',
      },
    },
  },
});
cpSync(join(dir, 'src'), join(target, 'src'), {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || path.endsWith('.lua'),
});
cpSync(join(dir, 'package.json'), join(target, 'package.json'));
const file = resolve(`test/fixtures/releases/${name}.tar.gz`);
rmSync(file, { force: true });
execFileSync('tar', ['cf', file, '--use-compress-program=gzip -9n', '-C', target, '.']);
for (const undo of undos.reverse()) await undo();
