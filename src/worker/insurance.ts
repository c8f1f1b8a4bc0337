import type { Config } from '../config/config.ts';
import { createAdmissionInsurance } from '../guards/admission-insurance.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { AdmissionOrder, ApiKey } from '../protocol/admission.ts';
import type { Payer } from '../quota/create-admit-request.ts';

interface Order extends Pick<AdmissionOrder, 'modelNames'> {
  readonly key: Pick<ApiKey, 'digest'>;
}

export interface Insurance {
  noteAdmitted(order: Order, payer: Payer): void;
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
 * none.
 */
export function createInsurance(guards: Config['guards'], clock: Clock): Insurance {
  const perMinuteMax = guards.insurancePerMinuteMax;
  if (perMinuteMax === undefined) return NO_INSURANCE;
  const admissions = createAdmissionInsurance<Payer & { readonly model: string | undefined }>({
    perMinuteMax,
    clock,
  });
  return {
    canInsure: admissions.canInsure,
    noteAdmitted({ key, modelNames }, { accountId, month }) {
      admissions.noteAdmitted(key.digest, { accountId, month, model: modelNames[0] });
    },
    async insure({ key, modelNames }) {
      const payer = await admissions.insure(key.digest);
      return payer?.model === modelNames[0] ? payer : undefined;
    },
  };
}
