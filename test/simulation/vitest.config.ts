import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { SOURCE_MUTANTS } from './source-mutants.ts';

const mutant = SOURCE_MUTANTS.find(({ name }) => name === process.env['SIMULATION_MUTANT']);

/** The simulations, with one bug in the source. */
export default defineConfig({
  test: { include: ['test/simulation/*.test.ts'] },
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      load(id) {
        if (mutant === undefined || !id.endsWith(`/${mutant.file}`)) return undefined;
        const source = readFileSync(mutant.file, 'utf8');
        if (source.split(mutant.find).length !== 2) throw new Error(`not once: ${mutant.find}`);
        return source.replace(mutant.find, () => mutant.replace);
      },
    },
  ],
});
