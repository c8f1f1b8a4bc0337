import type { SourceMutant } from './source-mutants.ts';

const ENTER = 'src/books/writing/enter-rows.ts';
const RIVALS = 'src/books/writing/find-rivals.ts';
const READER = 'src/books/ingest/stream-reader.ts';
const ITEMS = 'src/books/ingest/write-items.ts';
const MONTHS = 'src/books/duties/close-month.ts';
const ROLLUPS = 'src/books/writing/write-rollups.ts';
const INGESTER = 'src/books/ingest/start-ingester.ts';

export const BOOKS_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'the books have a charge that Redis lost beside what came in its place',
    file: RIVALS,
    find: 'return ENDS.map((kind) => eventOf({ ...entry, kind }));',
    replace: 'return [eventOf(entry)];',
  },
  {
    name: 'a late end takes the place of the hold that ran out',
    file: ENTER,
    find: 'isSamePlace(entry, stored) || (await context.isLost(stored))',
    replace:
      "isSamePlace(entry, stored) || entry.kind === 'late' || (await context.isLost(stored))",
  },
  {
    name: 'what gives way stays in the sums',
    file: ENTER,
    find: 'removed.push(stored);',
    replace: '',
  },
  {
    name: 'rows that were there already are added up again',
    file: ENTER,
    find: 'added.push(...inserted);',
    replace: 'added.push(...ofDay.filter((entry) => !hindered.has(entry)));',
  },
  {
    name: 'after a failover it is read on behind the cursor',
    file: READER,
    find: 'const place = isSame ? laterStreamId(rewindStreamId(cursor, REREAD_MS), floor) : floor;',
    replace: 'const place = laterStreamId(cursor, floor);',
  },
  {
    name: 'streams are trimmed up to what was read, before it is written',
    file: READER,
    find: '      await write();\n      return { isComplete, failure };',
    replace: '      written = gathering.empty();\n      return { isComplete, failure };',
  },
  {
    name: 'the last entry of each batch is left out',
    file: ITEMS,
    find: 'for (const item of items) {\n    const { content, bucket, id } = item;',
    replace:
      'for (const item of items.length > 4 ? items.slice(0, -1) : items) {\n    const { content, bucket, id } = item;',
  },
  {
    name: 'an ingester does not start anew after a failover',
    file: INGESTER,
    find: 'noteMasterChange: () => turn?.rewind(),',
    replace: 'noteMasterChange: () => {},',
  },
  {
    name: 'an entry of a closed month leaves it closed',
    file: ROLLUPS,
    find: '  await openMonths(tx, changes);\n',
    replace: '',
  },
  {
    name: 'a month is closed without its last accounts',
    file: MONTHS,
    find: '    if (isOpen) return;\n',
    replace: '    if (isOpen) return;\n    if (after !== undefined) break;\n',
  },
];
