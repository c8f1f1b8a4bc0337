/** Plans of requests alone. */
export type RequestPlans = Readonly<Record<'starter' | 'pro' | 'business' | 'team', number>>;
