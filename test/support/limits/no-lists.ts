import type { AdmitArguments } from '../../../src/quota/scripts/admit.ts';
import { DEFAULT_WARNINGS } from './default-warnings.ts';

/** An admission that meets no lists of limits. */
export const NO_LISTS: Pick<AdmitArguments, 'tokens' | 'user' | 'usersMax' | 'warnAtShare'> = {
  tokens: { input: 0, output: 0, outputLeast: 0, isOutputOpen: false },
  user: '',
  usersMax: 0,
  warnAtShare: DEFAULT_WARNINGS.atShare,
};
