import { defineConfig } from 'vitest/config';
import { applyMutant, SOURCE_MUTANTS } from './source-mutants.ts';

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
        return applyMutant(mutant);
      },
    },
  ],
});
