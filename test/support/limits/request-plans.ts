import type { Plan } from '../../../src/accounts/account.ts';

/** Plans that are a number of requests alone. */
export type RequestPlans = Readonly<Record<Plan, number>>;
