import type { Usage } from '../inference.ts';

export const NO_USAGE: Usage = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  thinking: 0,
  searches: 0,
};
