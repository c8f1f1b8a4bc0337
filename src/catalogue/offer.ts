import type { PlanLimits } from '../protocol/admission.ts';
import { type Catalogue, createCatalogue, type Model } from './catalogue.ts';

/** What is sold: its models with their prices, and the plans. */
interface OfferTerms {
  /** Undefined if the settings file decides: the version of the settings then names it. */
  readonly version: number | undefined;
  readonly models: readonly Model[];
  readonly plans: PlanLimits;
}

/**
 * One version of what is sold, ready for use. It never changes: a request that keeps it is priced
 * and limited by one version from its start to its settlement.
 */
export interface Offer {
  readonly version: number | undefined;
  readonly catalogue: Catalogue;
  readonly plans: PlanLimits;
}

export function createOffer({ version, models, plans }: OfferTerms): Offer {
  return { version, catalogue: createCatalogue(models), plans };
}
