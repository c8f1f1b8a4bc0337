import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const RIGHTS = 'src/doctor/store/rights.lua';

it('every command that a script runs is among the rights that are checked', () => {
  const listed = execFileSync('git', ['ls-files', 'src/**/*.lua'], { encoding: 'utf8' });
  const files = listed.split('\n').filter((file) => file !== '' && file !== RIGHTS);
  const used = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/redis\.p?call\(\s*'(\w+)'/g)].map(([, name]) => name),
  );
  const checked = [...readFileSync(RIGHTS, 'utf8').matchAll(/^ {2}\{ '(\w+)'/gm)].map(
    ([, name]) => name,
  );
  expect(new Set(used).size).toBeGreaterThan(20);
  expect(used.filter((name) => !checked.includes(name))).toEqual([]);
});
