import { expect, it } from 'vitest';
import { settingsSchema } from '../../src/config/schema/schema.ts';
import { formatByteSize } from '../../src/lib/units/parse-byte-size.ts';
import { DAY_MS, HOUR_MS } from '../../src/lib/units/time-units.ts';
import { listSchemaFacts } from '../config/list-schema-facts.ts';
import { blockOf, readPage } from '../support/read-docs.ts';

const PAGE = readPage('settings');
const LINES = blockOf(PAGE, 'yaml').split('\n');
const FACTS = listSchemaFacts(settingsSchema);

/** A list of maps is shown by its first item, and a list that is empty by a word. */
function isTold(value: unknown, line: string): boolean {
  if (value === '') return line.includes('default: none');
  if (!Array.isArray(value)) return line.includes(String(value));
  if (value.length === 0) return /\[\]|default: (?:none|nobody)/.test(line);
  const isEach = value.every((item) => typeof item === 'object' || line.includes(String(item)));
  return isEach || line.includes('default: all');
}

it('the page of settings tells the default of each key in its line', () => {
  const defaults = FACTS.filter(({ defaultValue }) => defaultValue !== undefined);
  const untold = defaults.filter(({ path, defaultValue }) => {
    const key = new RegExp(`\\b${path.split('.').at(-1)}:`);
    return !LINES.some((line) => key.test(line) && isTold(defaultValue, line));
  });
  expect(untold).toEqual([]);
});

it('the page of settings tells how large each number and each list may be', () => {
  const untold = FACTS.filter(({ max }) => {
    if (max === undefined) return false;
    const durations = [`${max / HOUR_MS}h`, `${max / DAY_MS}d`];
    const written = [max.toLocaleString('en-US'), max, formatByteSize(max), ...durations];
    return !written.some((text) => new RegExp(`(?<![\\w,])${text}(?![\\d,.]*\\d)`).test(PAGE));
  });
  expect(untold).toEqual([]);
});
