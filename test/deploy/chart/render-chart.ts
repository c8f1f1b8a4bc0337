import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { createTemplateSet, type Fields, merge } from './render-template.ts';

const CHART = 'deploy/helm/tollgate';
const NOTES = 'NOTES.txt';

export interface Manifest extends Fields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: unknown;
}

export function readValues(): Fields {
  return parse(readFileSync(`${CHART}/values.yaml`, 'utf8')) as Fields;
}

/** Renders the chart with these values merged over its defaults. */
export function renderChart(values: Fields, name = 'gate'): readonly Manifest[] {
  return renderTemplates(values, name).flatMap(({ file, text }) => {
    if (file === NOTES) return [];
    return parseAllDocuments(text).flatMap((document) => {
      const [problem] = [...document.errors, ...document.warnings];
      if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
      const manifest = document.toJS() as Manifest | null;
      return manifest === null ? [] : [manifest];
    });
  });
}

/** The notes that operators see after an installation. */
export function renderNotes(values: Fields): string {
  return renderTemplates(values, 'gate').find(({ file }) => file === NOTES)?.text ?? '';
}

function renderTemplates(values: Fields, name: string) {
  const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')) as Fields;
  const templates = createTemplateSet();
  const dot = {
    Values: merge(readValues(), values),
    Release: { Name: name, Namespace: 'models', Service: 'Helm' },
    Chart: { AppVersion: chart['appVersion'] },
  };
  const files = readdirSync(`${CHART}/templates`).sort((one) => (one.startsWith('_') ? -1 : 1));
  return files.map((file) => {
    const text = templates.render(readFileSync(`${CHART}/templates/${file}`, 'utf8'), dot);
    return { file, text };
  });
}
