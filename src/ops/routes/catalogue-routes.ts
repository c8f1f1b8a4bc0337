import type { AppliedVersion, CatalogueDesk } from '../../catalogue-store/catalogue-desk.ts';
import { CatalogueError } from '../../catalogue-store/catalogue-error.ts';
import { DOCUMENT_BYTES_MAX } from '../../catalogue-store/catalogue-records.ts';
import type { VersionNote } from '../../catalogue-store/catalogue-version.ts';
import { type Difference, showDifferences } from '../../config/diff-settings.ts';
import type { CatalogueDocument } from '../../config/schema/catalogue-schema.ts';
import { showTime } from '../../lib/time/show-time.ts';
import type { FleetDesk } from '../fleet-desk.ts';
import { requireLists } from '../require-lists.ts';
import {
  catalogueAnswer,
  catalogueChangeAnswer,
  catalogueDiffAnswer,
  catalogueHistoryAnswer,
  catalogueVersionAnswer,
  changeCatalogue,
  diffQuery,
  rollBackCatalogue,
} from '../schemas/catalogue-schemas.ts';
import { type AdminAnswer, type AdminRoute, defineAdminRoute } from './admin-route.ts';

/** A document is longer in a body than in Redis: with spaces, and with fields around it. */
const BODY_BYTES_MAX = DOCUMENT_BYTES_MAX + 256 * 1024;

export interface CatalogueRoutesOptions {
  readonly catalogue: CatalogueDesk;
}

interface ChangeRoutesOptions extends CatalogueRoutesOptions {
  readonly fleet: Pick<FleetDesk, 'findNodesWithoutLists'>;
}

export function createCatalogueRoutes(options: ChangeRoutesOptions): readonly AdminRoute[] {
  return [...createReadRoutes(options.catalogue), ...createChangeRoutes(options)];
}

function createReadRoutes(catalogue: CatalogueDesk): readonly AdminRoute[] {
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/catalogue',
      role: 'viewer',
      summary: 'What is sold: the last version, with its plans and models',
      answer: catalogueAnswer,
      async handle() {
        const { rules, last, document, soldVersion, refused } = await catalogue.read();
        const body = {
          rules,
          version: last?.version ?? null,
          from: last === undefined ? null : showTime(last.fromMs),
          applied_at: last === undefined ? null : showTime(last.appliedMs),
          sold_version: soldVersion ?? null,
          refused: refused ?? null,
          catalogue: document,
        };
        return { status: 200, body };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/catalogue/history',
      role: 'viewer',
      summary: 'The versions of the catalogue that are kept, the last first',
      answer: catalogueHistoryAnswer,
      async handle() {
        return { status: 200, body: { data: (await catalogue.listVersions()).map(showNote) } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/catalogue/versions/{id}',
      role: 'viewer',
      summary: 'One version of the catalogue',
      answer: catalogueVersionAnswer,
      async handle({ id }) {
        const { document, ...note } = await catalogue.readVersion(readNumber(id));
        return { status: 200, body: { ...showNote(note), catalogue: document } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/catalogue/diff',
      role: 'viewer',
      summary: 'What differs between two versions of the catalogue',
      query: diffQuery,
      answer: catalogueDiffAnswer,
      async handle({ query: { from, to } }) {
        const changes = (await catalogue.diff(from, to)).map(showDifference);
        return { status: 200, body: { from, to, changes } };
      },
    }),
  ];
}

function createChangeRoutes({ catalogue, fleet }: ChangeRoutesOptions): readonly AdminRoute[] {
  const requirePlanLists = ({ plans }: CatalogueDocument) =>
    requireLists(fleet, {
      limits: Object.values(plans).flatMap((plan) => (typeof plan === 'number' ? [] : plan.limits)),
    });

  return [
    defineAdminRoute({
      method: 'PUT',
      path: '/admin/v1/catalogue',
      role: 'operator',
      summary: 'Replace what is sold, at once or from a time on',
      changes: (body) => (isTrial(body) ? undefined : 'catalogue.apply'),
      body: changeCatalogue,
      bodyBytesMax: BODY_BYTES_MAX,
      answer: catalogueChangeAnswer,
      async handle({ body, who }) {
        const { base_version: baseVersion, catalogue: document, from } = body;
        const change = { baseVersion, document, fromMs: from ?? undefined, who };
        await requirePlanLists(document);
        if (!body.dry_run) return answerChange(baseVersion, await catalogue.apply(change));
        const changes = (await catalogue.preview(change)).map(showDifference);
        return { status: 200, body: { version: null, from: null, changes, replicated: 0 } };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/catalogue/rollback',
      role: 'operator',
      summary: 'Make an earlier version of the catalogue the last one, at once',
      changes: 'catalogue.rollback',
      body: rollBackCatalogue,
      answer: catalogueChangeAnswer,
      async handle({ body: { base_version: baseVersion, version }, who }) {
        await requirePlanLists((await catalogue.readVersion(version)).document);
        const applied = await catalogue.rollBack({ baseVersion, version, who });
        return answerChange(baseVersion, applied);
      },
    }),
  ];
}

/** The body is not checked yet. */
function isTrial(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'dry_run' in body && body.dry_run === true;
}

function answerChange(baseVersion: number, applied: AppliedVersion): AdminAnswer {
  const { version, fromMs, changes, replicated } = applied;
  const from = showTime(fromMs);
  const { before, after } = showDifferences(changes);
  return {
    status: 200,
    body: { version, from, changes: changes.map(showDifference), replicated },
    change: {
      account: null,
      before: { catalogue_version: baseVersion, ...before },
      after: { catalogue_version: version, from, ...after },
    },
  };
}

function showNote({ version, fromMs, appliedMs, origin }: VersionNote) {
  return { version, from: showTime(fromMs), applied_at: showTime(appliedMs), ...origin };
}

/** A value that is absent on one side is null there. */
function showDifference({ path, before, after }: Difference) {
  return { field: path, before: before ?? null, after: after ?? null };
}

function readNumber(id: string): number {
  if (/^[1-9]\d{0,8}$/.test(id)) return Number(id);
  throw new CatalogueError('unknown_version', 'versions have numbers, from 1');
}
