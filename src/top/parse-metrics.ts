export interface ScrapeSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** One page of metrics: the samples of each name. */
export type MetricsPage = ReadonlyMap<string, readonly ScrapeSample[]>;

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\\n]|\\[\\"n])*)"[ \t]*/y;
const VALUE = /^[ \t]+(\S+)(?:[ \t]+(-?\d+))?[ \t]*$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const TYPE = /^# +TYPE +[a-zA-Z_:][a-zA-Z0-9_:]* +(?:counter|gauge|histogram|summary|untyped)$/;
const ESCAPES: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

/** Reads the Prometheus text format (version 0.0.4). Throws with the line of the first mistake. */
export function parseMetrics(text: string): MetricsPage {
  const page = new Map<string, ScrapeSample[]>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    if (line.startsWith('#')) {
      if (/^# +TYPE\b/.test(line) && !TYPE.test(line)) throw mistakeIn(index, 'a wrong TYPE');
      continue;
    }
    const { name, sample } = parseSample(line, index);
    const samples = page.get(name);
    if (samples === undefined) page.set(name, [sample]);
    else samples.push(sample);
  }
  return page;
}

interface NamedSample {
  readonly name: string;
  readonly sample: ScrapeSample;
}

function parseSample(line: string, index: number): NamedSample {
  NAME.lastIndex = 0;
  const name = NAME.exec(line)?.[0];
  if (name === undefined) throw mistakeIn(index, 'no name');
  const { labels, end } =
    line[name.length] === '{'
      ? parseLabels(line, name.length + 1, index)
      : { labels: new Map<string, string>(), end: name.length };
  const value = parseValue(VALUE.exec(line.slice(end))?.[1] ?? '');
  if (value === undefined) throw mistakeIn(index, 'no value');
  return { name, sample: { labels, value } };
}

/** Reads from after the opening brace to after the closing one. */
function parseLabels(line: string, start: number, index: number) {
  const labels = new Map<string, string>();
  let end = start;
  while (line[end] !== '}') {
    LABEL.lastIndex = end;
    const [all = '', label = '', value = ''] = LABEL.exec(line) ?? [];
    if (all === '' || labels.has(label)) throw mistakeIn(index, 'wrong labels');
    labels.set(
      label,
      value.replaceAll(/\\[\\"n]/g, (pair) => ESCAPES[pair] ?? pair),
    );
    end += all.length;
    if (line[end] === ',') end += 1;
    else if (line[end] !== '}') throw mistakeIn(index, 'wrong labels');
  }
  return { labels, end: end + 1 };
}

function parseValue(text: string): number | undefined {
  if (/^[+]?Inf$/i.test(text)) return Number.POSITIVE_INFINITY;
  if (/^-Inf$/i.test(text)) return Number.NEGATIVE_INFINITY;
  if (/^NaN$/i.test(text)) return Number.NaN;
  return NUMBER.test(text) ? Number(text) : undefined;
}

function mistakeIn(index: number, what: string): Error {
  return new Error(`line ${index + 1} of the metrics has ${what}`);
}
