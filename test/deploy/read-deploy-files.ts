import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createHealthRoutes } from '../../src/http/routes/health-routes.ts';
import { METRICS } from '../../src/metrics/metrics.ts';

const PACKAGE = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string;
  readonly bin: { readonly tollgate: string };
};

/** The version of the package, and the path of its program. */
export const PROGRAM = { version: PACKAGE.version, path: PACKAGE.bin.tollgate };

const noHealth = {
  version: '',
  slot: 0,
  uptimeMs: () => 0,
  isDraining: () => false,
  readiness: () => 'ok' as const,
};
export const HEALTH_PATHS = createHealthRoutes(noHealth).map(({ path }) => path);

/** Every series of every metric, with its labels except those that Prometheus adds. */
export const SERIES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(METRICS).flatMap(({ name, type, labels }): [string, string[]][] => {
    const names = Object.keys(labels);
    if (type !== 'histogram') return [[name, names]];
    return [
      [`${name}_bucket`, [...names, 'le']],
      [`${name}_sum`, names],
      [`${name}_count`, names],
    ];
  }),
);

export function readText(path: string): string {
  return readFileSync(`deploy/${path}`, 'utf8');
}

/** A section of deploy/README.md, without the sections after it. */
export function readSection(title: string): string {
  const [, section] = readText('README.md').split(`\n## ${title}\n`);
  if (section === undefined) throw new Error(`deploy/README.md has no section ${title}`);
  return section.split('\n## ')[0] ?? '';
}

/** Reads a YAML file and resolves its anchors. */
export function readYaml<Shape>(path: string): Shape {
  return parse(readText(path), { merge: true }) as Shape;
}

/** The value of one setting in a configuration, exactly as written. */
export function settingIn(text: string, pattern: RegExp): string {
  const value = pattern.exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no ${pattern}`);
  return value;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, '': 1 };

export function parseSeconds(text: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h|)$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`${text} is no time`);
  return Number(count) * (UNIT_SECONDS[unit] ?? 1);
}
