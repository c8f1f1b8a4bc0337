import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { createTemplateSet } from './render-template.ts';

const CHART = 'deploy/helm/tollgate';

export type Fields = Readonly<Record<string, unknown>>;

export interface Manifest extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

export function readValues(): Fields {
  return parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Fields;
}

/** What the chart makes of its values, with these laid over them. */
export function renderChart(values: Fields, name = 'gate'): readonly Manifest[] {
  const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')) as Fields;
  const templates = createTemplateSet();
  const dot = {
    Values: merge(readValues(), values),
    Release: { Name: name, Service: 'Helm' },
    Chart: { AppVersion: chart['appVersion'] },
  };
  const files = readdirSync(`${CHART}/templates`).sort((one) => (one.startsWith('_') ? -1 : 1));
  return files.flatMap((file) => {
    const text = templates.render(readFileSync(`${CHART}/templates/${file}`, 'utf8'), dot);
    return parseAllDocuments(text).flatMap((document) => {
      const [problem] = [...document.errors, ...document.warnings];
      if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
      const manifest = document.toJS() as Manifest | null;
      return manifest === null ? [] : [manifest];
    });
  });
}

function merge(base: Fields, over: Fields): Fields {
  const isMap = (value: unknown): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isMap(below) && isMap(value) ? merge(below, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(merged) };
}
