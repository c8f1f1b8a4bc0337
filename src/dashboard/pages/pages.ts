import type { FunctionComponent } from 'preact';
import { matchPlace } from '../route.ts';
import { AccountListPage } from './account-list-page.tsx';
import { AccountPage } from './account-page.tsx';
import { AuditPage } from './audit-page.tsx';
import { KeyPage } from './key-page.tsx';
import { MissingPage } from './missing-page.tsx';
import { ModelsPage } from './models-page.tsx';
import { NodesPage } from './nodes-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import type { PageProps } from './page-props.ts';
import { PlaygroundPage } from './playground-page.tsx';
import { RequestsPage } from './requests-page.tsx';
import { UpstreamsPage } from './upstreams-page.tsx';

export interface Page {
  /** What follows the `#`, with at most one `{id}`. */
  readonly path: string;
  /** The heading; the id follows it if there is one. */
  readonly title: string;
  readonly View: FunctionComponent<PageProps>;
  readonly isInNavigation: boolean;
  /** The page of the navigation to which this page belongs. */
  readonly parent?: string;
}

const inNavigation = (path: string, title: string, View: Page['View']): Page => {
  return { path, title, View, isInNavigation: true };
};
const below = (parent: string, path: string, title: string, View: Page['View']): Page => {
  return { path, title, View, isInNavigation: false, parent };
};

/** EVERY page, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  inNavigation('/overview', 'Overview', OverviewPage),
  inNavigation('/accounts', 'Accounts', AccountListPage),
  below('/accounts', '/accounts/{id}', 'Account', AccountPage),
  below('/accounts', '/keys/{id}', 'Key', KeyPage),
  inNavigation('/requests', 'Requests', RequestsPage),
  below('/requests', '/requests/{id}', 'Request', RequestsPage),
  inNavigation('/upstreams', 'Upstreams', UpstreamsPage),
  inNavigation('/models', 'Models and prices', ModelsPage),
  inNavigation('/audit', 'Audit', AuditPage),
  inNavigation('/nodes', 'Nodes', NodesPage),
  inNavigation('/playground', 'Playground', PlaygroundPage),
];

const MISSING: Page = {
  path: '',
  title: 'No such page',
  View: MissingPage,
  isInNavigation: false,
};

export interface PageMatch {
  readonly page: Page;
  readonly id: string | undefined;
}

export function findPage(place: string): PageMatch {
  for (const page of PAGES) {
    const id = matchPlace(page.path, place);
    if (id !== null) return { page, id };
  }
  return { page: MISSING, id: undefined };
}
