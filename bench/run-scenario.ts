/** `npm run bench -- NAME [OPTIONS]` runs a scenario; without a name it lists them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const WRONG_USAGE = 2;
const dir = join(import.meta.dirname, 'scenarios');
const names = readdirSync(dir).flatMap((file) => (file.endsWith('.js') ? [file.slice(0, -3)] : []));
const [, , name] = process.argv;

if (name !== undefined && names.includes(name)) {
  await import(pathToFileURL(join(dir, `${name}.js`)).href);
} else {
  console.log(`npm run bench -- NAME\n\n${names.map((each) => `  ${each}`).join('\n')}`);
  console.log('\nbench/README.md says what each shows.');
  if (name !== undefined) process.exitCode = WRONG_USAGE;
}
