import type { Config } from '../config/config.ts';
import { createAdmissionInsurance } from '../guards/admission-insurance.ts';
import type { Clock } from '../lib/time/clock.ts';
import { monthOf } from '../lib/time/month.ts';
import type { AdmissionOrder, ApiKey } from '../protocol/admission.ts';
import type { Payer } from '../quota/create-admit-request.ts';

interface Order extends Pick<AdmissionOrder, 'modelNames'> {
  readonly key: Pick<ApiKey, 'digest'>;
}

export interface Insurance {
  noteAdmitted(order: Order, payer: Pick<Payer, 'accountId'>): void;
  /**
   * Undefined unless the settings allow it and this key was admitted for this model a moment ago.
   */
  insure(order: Order): Promise<Payer | undefined>;
  canInsure(): boolean;
}

const NO_INSURANCE: Insurance = {
  noteAdmitted: () => {},
  insure: () => Promise.resolve(undefined),
  canInsure: () => false,
};

/**
 * Decides which requests a worker may admit by itself while the store is out. By default it admits
 * none. `clockSkewMs` is how far the clock of Redis is ahead.
 */
export function createInsurance(
  guards: Pick<Config['guards'], 'insurancePerMinuteMax'>,
  clock: Clock,
  clockSkewMs: () => number,
): Insurance {
  const perMinuteMax = guards.insurancePerMinuteMax;
  if (perMinuteMax === undefined) return NO_INSURANCE;
  const admissions = createAdmissionInsurance<string>({ perMinuteMax, clock });
  return {
    canInsure: admissions.canInsure,
    noteAdmitted({ key, modelNames: [model = ''] }, { accountId }) {
      admissions.noteAdmitted(key.digest, model, accountId);
    },
    async insure({ key, modelNames: [model = ''] }) {
      const accountId = await admissions.insure(key.digest, model);
      if (accountId === undefined) return undefined;
      return { accountId, month: monthOf(clock.nowMs() + clockSkewMs()) };
    },
  };
}
