// @ts-check
/** `npm run build`: makes all of dist from the sources. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { bundleProgram } from './bundle-program.mjs';
import { buildDocs } from './docs/build-docs.mjs';

const BIN = 'node_modules/.bin';
const PROGRAM = 'dist/src/main.js';
/** Folders whose build is not that of the program. */
const OTHERS = ['src/build', 'src/dashboard', 'src/docs'];

process.chdir(join(import.meta.dirname, '../..'));
rmSync('dist', { recursive: true, force: true });
copyLuaScripts();
compile('tsconfig.json');
compile('src/dashboard/tsconfig.json');
for (const dir of ['src/dashboard', 'src/dashboard/key-page']) {
  await build({ configFile: `${dir}/vite.config.ts`, logLevel: 'warn' });
}
await bundleProgram();
buildDocs('dist/src/docs');
linkProgram();

/** Redis runs them from their files, which stand beside the code that names them. */
function copyLuaScripts() {
  cpSync('src', 'dist/src', {
    recursive: true,
    filter: (path) =>
      !OTHERS.includes(path) && (statSync(path).isDirectory() || path.endsWith('.lua')),
  });
}

/** @param {string} project */
function compile(project) {
  const { status } = spawnSync(join(BIN, 'tsc'), ['--project', project], { stdio: 'inherit' });
  
}

/** `npx tollgate` in a checkout finds the program here, also if it was called before there was one. */
function linkProgram() {
  chmodSync(PROGRAM, 0o755);
  const link = join(BIN, 'tollgate');
  rmSync(link, { force: true });
  symlinkSync(join('../..', PROGRAM), link);
}
