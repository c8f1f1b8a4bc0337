import type * as types from './api-types.ts';
import type * as books from './books-types.ts';
import { readAdmin, readBooks } from './fetch-admin.ts';

const RELOAD_TIME_MAX_MS = 14_400_000;

type Signal = AbortSignal | undefined;

const at = (id: string) => encodeURIComponent(id);
const post = <Answer>(path: string, body: object) =>
  readAdmin<Answer>(path, { method: 'POST', body });
const patch = <Answer>(path: string, body: object) =>
  readAdmin<Answer>(path, { method: 'PATCH', body });

/** EVERY call of the admin API that answers with JSON. Files are saved by `saveFile`. */
export const api = {
  listAccounts: (query: types.AccountsQuery, signal?: Signal) =>
    readAdmin<types.AccountList>('/accounts', { query: { ...query }, signal }),
  getAccount: (id: string, signal?: Signal) =>
    readAdmin<types.Account>(`/accounts/${at(id)}`, { signal }),
  createAccount: (body: { name: string; plan: string }) => post<types.Account>('/accounts', body),
  changeAccount: (id: string, body: types.AccountChange) =>
    patch<types.Account>(`/accounts/${at(id)}`, body),
  addCredits: (id: string, body: { amount: number; id: string; note: string }) =>
    post<types.PaymentResult>(`/accounts/${at(id)}/credits`, body),
  readAccountLimits: (id: string, signal?: Signal) =>
    readAdmin<types.SharedLimits>(`/accounts/${at(id)}/limits`, { signal }),
  listGroups: (account: string, signal?: Signal) =>
    readAdmin<types.GroupList>(`/accounts/${at(account)}/groups`, { signal }),
  createGroup: (account: string, body: types.GroupControls) =>
    post<types.Group>(`/accounts/${at(account)}/groups`, body),
  getGroup: (id: string, signal?: Signal) =>
    readAdmin<types.Group>(`/groups/${at(id)}`, { signal }),
  readGroupLimits: (id: string, signal?: Signal) =>
    readAdmin<types.SharedLimits>(`/groups/${at(id)}/limits`, { signal }),
  changeGroup: (id: string, body: types.GroupControls) =>
    patch<types.Group>(`/groups/${at(id)}`, body),
  listKeys: (account: string, signal?: Signal) =>
    readAdmin<types.KeyList>(`/accounts/${at(account)}/keys`, { signal }),
  createKey: (account: string, body: types.KeyControls) =>
    post<types.NewKey>(`/accounts/${at(account)}/keys`, body),
  getKey: (id: string, signal?: Signal) => readAdmin<types.Key>(`/keys/${at(id)}`, { signal }),
  readKeyLimits: (id: string, query: { user?: string }, signal?: Signal) =>
    readAdmin<types.KeyLimits>(`/keys/${at(id)}/limits`, { query, signal }),
  changeKey: (id: string, body: types.KeyControls) => patch<types.Key>(`/keys/${at(id)}`, body),
  rotateKey: (id: string, body: types.Rotation) =>
    post<types.KeyRotation>(`/keys/${at(id)}/rotate`, body),
  revokeKey: (id: string) => post<types.KeyRevocation>(`/keys/${at(id)}/revoke`, {}),
  sumUsage: (query: types.UsageQuestion, signal?: Signal) =>
    readBooks<books.UsageReport>('/usage', { query: { ...query }, signal }),
  countRefusals: (query: types.BooksFilter & { by: string }, signal?: Signal) =>
    readBooks<books.RefusalsReport>('/refusals', { query: { ...query }, signal }),
  readStatement: (account: string, month: string, signal?: Signal) =>
    readBooks<books.Statement>(`/accounts/${at(account)}/statements/${at(month)}`, { signal }),
  listRequests: (query: types.Query, signal?: Signal) =>
    readBooks<books.RequestList>('/requests', { query, signal }),
  findRequest: (id: string, signal?: Signal) =>
    readAdmin<types.Receipt>(`/requests/${at(id)}`, { signal }),
  readCluster: (signal?: Signal) => readAdmin<types.Cluster>('/cluster', { signal }),
  readNode: (id: string, signal?: Signal) =>
    readAdmin<types.FullNode>(`/cluster/nodes/${at(id)}`, { signal }),
  /** What all nodes did in the last hour. */
  readHistory: (signal?: Signal) => readAdmin<types.History>('/history', { signal }),
  /** Reloads all nodes, one after the other. */
  reloadNodes: () =>
    readAdmin<types.FleetReload>('/cluster/reload', {
      method: 'POST',
      body: {},
      answerTimeMaxMs: RELOAD_TIME_MAX_MS,
    }),
  readCatalogue: (signal?: Signal) => readAdmin<types.CatalogueReport>('/catalogue', { signal }),
  /** With `dry_run`, it answers what would change. */
  changeCatalogue: (body: types.CatalogueEdit) =>
    readAdmin<types.CatalogueResult>('/catalogue', { method: 'PUT', body }),
  rollBackCatalogue: (body: { base_version: number; version: number }) =>
    post<types.CatalogueResult>('/catalogue/rollback', body),
  listCatalogueVersions: (signal?: Signal) =>
    readAdmin<types.CatalogueHistory>('/catalogue/history', { signal }),
  readCatalogueVersion: (version: number | string, signal?: Signal) =>
    readAdmin<types.CatalogueVersion>(`/catalogue/versions/${at(String(version))}`, { signal }),
  diffCatalogue: (query: { from: number; to: number }, signal?: Signal) =>
    readAdmin<types.CatalogueDiff>('/catalogue/diff', { query, signal }),
  listModels: (signal?: Signal) => readAdmin<types.ModelList>('/models', { signal }),
  readAudit: (query: types.AuditFilter, signal?: Signal) =>
    readAdmin<types.AuditList>('/audit', { query: { ...query }, signal }),
  listLimitEvents: (query: types.Query, signal?: Signal) =>
    readAdmin<types.LimitEventList>('/limit-events', { query, signal }),
  listWebhooks: (signal?: Signal) => readAdmin<types.WebhookList>('/webhooks', { signal }),
  testWebhook: (name: string) => post<types.WebhookTest>(`/webhooks/${at(name)}/test`, {}),
  readMe: (signal?: Signal) => readAdmin<types.Me>('/operators/me', { signal }),
  listOperators: (signal?: Signal) => readAdmin<types.OperatorList>('/operators', { signal }),
  createOperator: (body: { name: string; role: string }) =>
    post<types.NewOperator>('/operators', body),
  revokeOperator: (id: string) => post<object>(`/operators/${at(id)}/revoke`, {}),
};
