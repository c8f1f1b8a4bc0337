import type { Gateway } from '../servers/start-gateway.ts';

export interface Scrape {
  readonly contentType: string;
  readonly text: string;
  /** The sum of all series that have at least these labels; undefined if there are none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

/** Reads the page that a node serves to Prometheus. */
export async function scrape({ opsUrl }: Pick<Gateway, 'opsUrl'>): Promise<Scrape> {
  const response = await fetch(`${opsUrl}/metrics`);
  const text = await response.text();
  if (!response.ok) throw new Error(`/metrics answers ${response.status}: ${text}`);
  return {
    contentType: response.headers.get('content-type') ?? '',
    text,
    sum: (name, labels = {}) => sumSeries(text, name, labels),
  };
}

export function sumSeries(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const values = text.split('\n').flatMap((line) => {
    const [series = '', value] = line.split(/ (?=\S+$)/);
    const [found, rest = ''] = series.split(/[{}]/);
    const has = rest.split(',');
    return found === name && wanted.every((each) => has.includes(each)) ? [Number(value)] : [];
  });
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
