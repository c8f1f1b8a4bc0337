import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { METRICS } from '../../src/metrics/metrics.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { readText, SERIES } from './read-deploy-files.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const GRID_COLUMNS = 24;

const dashboard = JSON.parse(readText('grafana/dashboards/tollgate.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const { panels } = dashboard;
const targets = panels.flatMap(({ title, targets: own = [] }) =>
  own.map((target) => ({ ...target, title })),
);

/** Requests of a node every minute, by status. A status without requests has no series. */
const requests = (status: string, values: string) => ({
  series: `tollgate_requests_total{job="tollgate",instance="a",status="${status}"}`,
  values,
});
const WORKERS = { series: 'tollgate_workers{job="tollgate",instance="a"}', values: '1x20' };

/** Replaces variables as Grafana does. */
const fillIn = (expr: string) =>
  expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.+').replaceAll('$instance', '.+');

describe('the dashboard', () => {
  it('asks what Prometheus understands', () => {
    const rules = targets.map(({ expr }, n) => ({ record: `panel:${n}`, expr: fillIn(expr) }));
    const file = join(createTempDir(), 'rules.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it.each([
    ['0 where nothing has failed', [requests('200', '0+10x20')], 0],
    [
      'the first failures of a status',
      [requests('200', '0+10x20'), requests('503', '_x18 50 50')],
      0.5,
    ],
  ])('shows as failing %s', (_, series, value) => {
    const [expr = ''] = targets.flatMap((target) =>
      target.title === 'Failing' ? [fillIn(target.expr)] : [],
    );
    const asked = { expr: `round(${expr}, 0.001)`, eval_time: '20m', exp_samples: [{ value }] };
    const file = join(createTempDir(), 'tests.yml');
    const input = { interval: '1m', input_series: [...series, WORKERS] };
    writeFileSync(file, stringify({ tests: [{ ...input, promql_expr_test: [asked] }] }));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).not.toContain('FAILED');
    expect(stdout).toContain('SUCCESS');
  });

  it('shows every metric, and none that does not exist', () => {
    const used = new Set(targets.flatMap(({ expr }) => expr.match(/tollgate_\w+/g) ?? []));
    for (const name of used) expect(SERIES.has(name), name).toBe(true);
    for (const { name } of Object.values(METRICS)) {
      expect(
        [...used].some((series) => series === name || series === `${name}_bucket`),
        name,
      ).toBe(true);
    }
  });

  it('groups and names by labels that the series have', () => {
    for (const { title, expr, legendFormat } of targets) {
      const names = expr.match(/tollgate_\w+/g) ?? [];
      const labels = new Set(names.flatMap((name) => SERIES.get(name) ?? []).concat('instance'));
      const grouped = [...expr.matchAll(/by \(([^)]+)\)/g)].flatMap(([, by = '']) =>
        by.split(',').map((label) => label.trim()),
      );
      for (const label of grouped) expect([...labels], title).toContain(label);
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        expect(grouped, title).toContain(label);
      }
    }
  });

  it('uses the variables that it has, and no source of its own', () => {
    const has = dashboard.templating.list.map(({ name }) => name);
    expect(has).toEqual(['datasource', 'job', 'instance']);
    const used = readText('grafana/dashboards/tollgate.json').match(/\$\{?[a-z_]+/g) ?? [];
    const names = new Set(used.map((name) => name.replace(/^\$\{?/, '')));
    expect([...names].filter((name) => !name.startsWith('__')).sort()).toEqual([...has].sort());
  });

  it('has panels that do not lie upon each other', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(GRID_COLUMNS);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), title).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});
