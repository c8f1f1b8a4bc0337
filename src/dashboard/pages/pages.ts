import type { FunctionComponent } from 'preact';
import type { Me } from '../api/api-types.ts';
import { matchPlace, type PlaceParts } from '../route.ts';
import { AccountListPage } from './account-list-page.tsx';
import { AccountPage } from './account-page.tsx';
import { AuditLogPage } from './audit-log-page.tsx';
import { CataloguePage } from './catalogue-page.tsx';
import { CatalogueVersionPage } from './catalogue-version-page.tsx';
import { EventsPage } from './events-page.tsx';
import { GroupPage } from './group-page.tsx';
import { KeyPage } from './key-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { NodeDetailPage } from './node-detail-page.tsx';
import { NodesPage } from './nodes-page.tsx';
import { OperatorsPage } from './operators-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import type { PageProps } from './page-props.ts';
import { PlaygroundPage } from './playground-page.tsx';
import { RequestListPage } from './request-list-page.tsx';
import { StatementPage } from './statement-page.tsx';
import { UpstreamsPage } from './upstreams-page.tsx';

export interface Page {
  /** What follows the `#`, with at most one `{id}` and one `{month}`. */
  readonly path: string;
  /** The heading, until the name of what the page shows is known. */
  readonly title: string;
  readonly View: FunctionComponent<PageProps>;
  readonly isInNavigation: boolean;
  /** The role without which the page is of no use; by default the page is for every role. */
  readonly role?: Me['role'];
  /** The page of the navigation to which this page belongs. */
  readonly parent?: string;
  /** Pages of the same frame keep their view when one follows the other. */
  readonly frame?: string;
}

const inNavigation = (path: string, title: string, View: Page['View']): Page => {
  return { path, title, View, isInNavigation: true };
};
const below = (parent: string, path: string, title: string, View: Page['View']): Page => {
  return { path, title, View, isInNavigation: false, parent };
};
const REQUESTS = { frame: 'requests' };

/** EVERY page, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  inNavigation('/overview', 'Overview', OverviewPage),
  inNavigation('/accounts', 'Accounts', AccountListPage),
  below('/accounts', '/accounts/{id}', 'Account', AccountPage),
  below('/accounts', '/accounts/{id}/statements/{month}', 'Statement', StatementPage),
  below('/accounts', '/groups/{id}', 'Group', GroupPage),
  below('/accounts', '/keys/{id}', 'Key', KeyPage),
  { ...inNavigation('/requests', 'Requests', RequestListPage), ...REQUESTS },
  { ...below('/requests', '/requests/{id}', 'Requests', RequestListPage), ...REQUESTS },
  inNavigation('/events', 'Events', EventsPage),
  inNavigation('/upstreams', 'Upstreams', UpstreamsPage),
  inNavigation('/catalogue', 'Catalogue', CataloguePage),
  below('/catalogue', '/catalogue/{id}', 'Version', CatalogueVersionPage),
  inNavigation('/audit', 'Audit', AuditLogPage),
  inNavigation('/nodes', 'Nodes', NodesPage),
  below('/nodes', '/nodes/{id}', 'Node', NodeDetailPage),
  inNavigation('/operators', 'Operators', OperatorsPage),
  { ...inNavigation('/playground', 'Playground', PlaygroundPage), role: 'operator' },
];

const MISSING: Page = {
  path: '',
  title: 'No such page',
  View: MissingPage,
  isInNavigation: false,
};

export interface PageMatch {
  readonly page: Page;
  readonly parts: PlaceParts;
}

export function findPage(place: string): PageMatch {
  for (const page of PAGES) {
    const parts = matchPlace(page.path, place);
    if (parts !== null) return { page, parts };
  }
  return { page: MISSING, parts: {} };
}
