import type { z } from 'zod';
import type * as answers from '../../ops/schemas/answer-schemas.ts';
import type * as catalogue from '../../ops/schemas/catalogue-schemas.ts';
import type * as cluster from '../../ops/schemas/cluster-schemas.ts';
import type * as events from '../../ops/schemas/limit-event-schemas.ts';
import type * as operators from '../../ops/schemas/operator-schemas.ts';

/** The answers of the admin API: the types of the schemas that describe them. */
export type Account = z.infer<typeof answers.accountAnswer>;
export type AccountList = z.infer<typeof answers.accountsAnswer>;
export type PaymentResult = z.infer<typeof answers.paymentAnswer>;
export type Key = z.infer<typeof answers.keyAnswer>;
export type KeyLimits = z.infer<typeof answers.keyLimitsAnswer>;
export type SharedLimits = z.infer<typeof answers.sharedLimitsAnswer>;
export type Group = z.infer<typeof answers.groupAnswer>;
export type GroupList = z.infer<typeof answers.groupsAnswer>;
export type KeyList = z.infer<typeof answers.keysAnswer>;
export type NewKey = z.infer<typeof answers.keyCreatedAnswer>;
export type KeyRotation = z.infer<typeof answers.keyRotatedAnswer>;
export type KeyRevocation = z.infer<typeof answers.keyRevokedAnswer>;
export type Receipt = z.infer<typeof answers.receiptAnswer>;
export type AuditList = z.infer<typeof answers.auditAnswer>;
export type Cluster = z.infer<typeof cluster.clusterAnswer>;
/** A node as the fleet knows it. */
export type ListedNode = Cluster['nodes'][number];
/** A node in full. */
export type FullNode = z.infer<typeof cluster.nodeAnswer>;
export type FleetReload = z.infer<typeof cluster.fleetReloadAnswer>;
export type History = z.infer<typeof cluster.historyAnswer>;
export type CatalogueReport = WithDocument<z.infer<typeof catalogue.catalogueAnswer>>;
export type CatalogueHistory = z.infer<typeof catalogue.catalogueHistoryAnswer>;
/** What is known of a version, without its document. */
export type VersionNote = CatalogueHistory['data'][number];
export type CatalogueVersion = WithDocument<z.infer<typeof catalogue.catalogueVersionAnswer>>;
export type CatalogueDiff = z.infer<typeof catalogue.catalogueDiffAnswer>;
export type CatalogueResult = z.infer<typeof catalogue.catalogueChangeAnswer>;
export type ModelList = z.infer<typeof answers.modelsAnswer>;
export type Model = ModelList['data'][number];
export type LimitEventList = z.infer<typeof events.limitEventsAnswer>;
export type EventRow = LimitEventList['data'][number];
export type WebhookList = z.infer<typeof events.webhooksAnswer>;
export type ShownWebhook = WebhookList['data'][number];
export type WebhookTest = z.infer<typeof events.webhookTestAnswer>;
export type Me = z.infer<typeof operators.meAnswer>;
export type OperatorList = z.infer<typeof operators.operatorsAnswer>;
export type NewOperator = z.infer<typeof operators.operatorCreatedAnswer>;
export type ProblemBody = z.infer<typeof answers.problemAnswer>;

/** Plans and models as the settings write them, with every default. */
export type SoldDocument = z.output<typeof catalogue.changeCatalogue>['catalogue'];

/** The schemas of answers do not repeat what the schema of the settings says. */
type WithDocument<Answer> = Omit<Answer, 'catalogue'> & { readonly catalogue: SoldDocument };

export interface CatalogueEdit {
  readonly base_version: number;
  /** Whatever somebody typed. */
  readonly catalogue: object;
  /** Absent means at once. */
  readonly from?: string;
  readonly dry_run?: boolean;
}

/** A limit of a list, as the admin API takes it. */
export type WrittenLimit = Key['limits'][number];

/** What follows the `?`; what is undefined or empty is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** The version that the operator has seen. A change is refused if there is another one. */
export interface BasedOn {
  readonly base_version?: number | undefined;
}

/** Null removes a control; a missing field leaves it as it is. */
export interface KeyControls extends BasedOn {
  readonly name?: string | null;
  readonly rpm?: number | null;
  readonly models?: readonly string[] | null;
  readonly monthly_cap?: number | null;
  readonly concurrency?: number | null;
  readonly group?: string | null;
  readonly limits?: readonly WrittenLimit[];
  readonly user_limits?: readonly WrittenLimit[];
  readonly require_user?: boolean;
  readonly expires_at?: string | null;
}

export interface Rotation {
  readonly overlap_seconds: number;
  /** When the key was rotated last, as far as the operator knows. */
  readonly base_rotated_at: string | null;
}

/** A list replaces the one before; a missing field leaves it as it is. */
export interface GroupControls extends BasedOn {
  readonly name?: string;
  readonly limits?: readonly WrittenLimit[];
  readonly user_limits?: readonly WrittenLimit[];
  readonly require_user?: boolean;
}

export interface AccountsQuery {
  readonly after?: string | undefined;
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
}

export interface AccountChange extends BasedOn {
  readonly name?: string;
  readonly plan?: string;
  readonly limits?: readonly WrittenLimit[];
  readonly status?: 'active' | 'suspended';
  readonly low_balance?: number | null;
}

/** An empty text matches everything. */
export interface LimitEventFilter {
  readonly account: string;
  readonly type: EventRow['type'] | '';
}

/** Whose figures are asked for, and of which time. `to` is exclusive. */
export interface BooksFilter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface UsageQuestion extends BooksFilter {
  /** One or two groups, separated by a comma. */
  readonly by: string;
  readonly order?: 'charged';
  readonly limit?: number;
}

export interface AuditFilter extends BooksFilter {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}
