import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { problemsOf } from './problems-of.ts';

const plansOf = (text: string, env: Record<string, string> = {}) =>
  parseConfig({ path: 't.yaml', text: `plans: ${text}`, env }).plans;

it('a plan has limits whose amounts may be variables', () => {
  const withAmount = (amount: string) =>
    `{hobby: {requests: 20, limits: [{unit: tokens, window: 1m, amount: ${amount}}]}}`;
  expect(plansOf(withAmount(`"\${T}"`), { T: '40000' })).toEqual(plansOf(withAmount('40000')));
  expect(problemsOf(`plans: ${withAmount('"4 0"')}`)).toEqual([
    't.yaml:1: plans.hobby.limits[0].amount: must be a whole number of 0 or more, or credits of 0 or more with at most 6 decimals',
  ]);
});

it('a plan that is a map needs no limits, and says which keys a limit has', () => {
  expect(plansOf('{hobby: {requests: 20}}')['hobby']).toMatchObject({ requests: 20 });
  const limits = '[{unit: tokens, windw: 1m, amount: 4}]';
  expect(problemsOf(`plans: {hobby: {requests: 20, limits: ${limits}}}`).join('\n')).toContain(
    'plans.hobby.limits[0].windw: unknown key; did you mean window?',
  );
});
