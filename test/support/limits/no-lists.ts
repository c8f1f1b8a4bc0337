import type { AdmitArguments } from '../../../src/quota/scripts/admit.ts';

/** An admission that meets no lists of limits. */
export const NO_LISTS: Pick<AdmitArguments, 'tokens' | 'user' | 'usersMax'> = {
  tokens: { input: 0, output: 0, outputLeast: 0, isOutputOpen: false },
  user: '',
  usersMax: 0,
};
