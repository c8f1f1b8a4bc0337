import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readText, readYaml, SERIES } from './read-deploy-files.ts';

const TESTS = [
  'test/deploy/prometheus-rules.yml',
  'test/deploy/prometheus-rules-of-days.yml',
  'test/e2e/observing/prometheus-rules.yml',
];

interface Alert {
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook_url?: string };
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

const rules = readYaml<{ groups: { rules: Alert[] }[] }>('prometheus/rules.yml').groups.flatMap(
  (group) => group.rules,
);
const alerts = rules.filter(({ alert }) => alert !== undefined);

describe('each alert', () => {
  it('is raised when there is a reason, and only then', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', ...TESTS], {
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).not.toContain('FAILED');
    expect(status).toBe(0);
  });

  it('has a test in which it is raised and one in which it is not', () => {
    const cases = TESTS.flatMap((file) => (parse(readFileSync(file, 'utf8')) as RuleTests).tests)
      .flatMap((test) => test.alert_rule_test)
      .map(({ alertname, exp_alerts: expected }) => `${alertname} ${expected.length > 0}`);
    // For these alerts one case shows both: its other nodes raise no alert.
    const shownAtOnce = ['TollgateErrors'];
    for (const { alert = '' } of alerts) {
      expect(cases).toContain(`${alert} true`);
      if (!shownAtOnce.includes(alert)) expect(cases).toContain(`${alert} false`);
    }
  });

  it('says how bad it is, what it is and where to read on', () => {
    const headings = readText('README.md').match(/^### .+$/gm) ?? [];
    for (const { alert = '', labels, annotations } of alerts) {
      expect(labels?.severity, alert).toMatch(/^(critical|warning)$/);
      expect(annotations?.summary, alert).toMatch(/\.$/);
      expect(annotations?.runbook_url).toBe(`deploy/README.md#${alert.toLowerCase()}`);
      expect(headings).toContain(`### ${alert}`);
    }
    expect(headings.filter((heading) => heading.startsWith('### Tollgate'))).toHaveLength(
      alerts.length,
    );
  });

  it('asks for series and labels that nodes have', () => {
    const known = new Set([...[...SERIES.values()].flat(), 'job', 'fleet', 'instance']);
    for (const { expr } of rules) {
      for (const [name] of expr.matchAll(/(?<![\w:])tollgate_\w+/g)) {
        expect(SERIES.has(name), name).toBe(true);
      }
      for (const [, labels = ''] of expr.matchAll(/by \(([^)]+)\)/g)) {
        for (const label of labels.split(',')) expect(known, expr).toContain(label.trim());
      }
    }
  });
});
