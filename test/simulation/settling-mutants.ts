import type { SourceMutant } from './source-mutants.ts';

const QUEUE = 'src/quota/settling/settle-queue.ts';
const LANES = 'src/quota/settling/settle-lanes.ts';
const OVERDUE = 'src/quota/settling/overdue-hand-over.ts';
const REPLAY = 'src/quota/settling/settlement-replay.ts';
const RECENT = 'src/quota/settling/recent-settlements.ts';
const JOURNAL = 'src/quota/journal/settle-journal.ts';
const FEED = 'src/quota/journal/journal-feed.ts';
const FILES = 'src/quota/journal/journal-files.ts';
const WRITER = 'src/quota/journal/journal-writer.ts';
const RECORD = 'src/quota/journal/journal-record.ts';

export const SETTLING_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'a worker forgets what Redis has acknowledged',
    file: QUEUE,
    find: 'replay.remember(settlement);',
    replace: '',
  },
  {
    name: 'a replay is not told how a settlement ended',
    file: QUEUE,
    find: 'replay.noteEnd(settlement, reply);',
    replace: '',
  },
  {
    name: 'a settlement that met an outage is not tried again',
    file: LANES,
    find: 'waiting.push(task);\n      const delayMs',
    replace: 'const delayMs',
  },
  {
    name: 'a lane that paused takes no further task',
    file: LANES,
    find: 'lane.failuresInRow++;\n    }\n    goOn(lane);',
    replace: 'lane.failuresInRow++;\n    }',
  },
  {
    name: 'settlements leave the worker before the primary has them',
    file: OVERDUE,
    find: 'await handOver(batch.map(({ settlement }) => settlement));\n        onHandedOver(batch);',
    replace:
      'onHandedOver(batch);\n        await handOver(batch.map(({ settlement }) => settlement));',
  },
  {
    name: 'a worker hands over once only',
    file: OVERDUE,
    find: '    isHandingOver = false;\n  };',
    replace: '  };',
  },
  {
    name: 'what was settled in the last seconds only is sent again',
    file: REPLAY,
    find: 'const REPLAY_WINDOW_MS = 60_000;',
    replace: 'const REPLAY_WINDOW_MS = 1_000;',
  },
  {
    name: 'the window of a replay goes on while the master is away',
    file: REPLAY,
    find: 'clock: masterClock,',
    replace: 'clock,',
  },
  {
    name: 'a replay leaves out its first settlement',
    file: RECENT,
    find: 'const reader = createReader(first, count);',
    replace:
      'const reader = createReader(first, count);\n      if (reader.left > 0) reader.skip();',
  },
  {
    name: 'the primary forgets what Redis has acknowledged',
    file: JOURNAL,
    find: 'else if (task.segment !== undefined) replay.remember(task.settlement);',
    replace: '',
  },
  {
    name: 'settlements of an earlier run are not read',
    file: FEED,
    find: '  void loadMore();\n  return {',
    replace: '  return {',
  },
  {
    name: 'the first settlement of each write is not given out',
    file: FEED,
    find: 'for (const settlement of settlements) onLoaded(settlement, segment);',
    replace: 'for (const settlement of settlements.slice(1)) onLoaded(settlement, segment);',
  },
  {
    name: 'the primary says that it has what it is still writing',
    file: FILES,
    find: 'const segment = await writer.write(bytes);',
    replace:
      'for (const { resolve } of batch) resolve();\n      const segment = await writer.write(bytes);',
  },
  {
    name: 'a write of the journal is not synced',
    file: WRITER,
    find: 'await place.file.datasync();',
    replace: '',
  },
  {
    name: 'a torn record ends the reading of a journal one record early',
    file: RECORD,
    find: 'settlements.push(decodeSettlement(record.subarray(HEAD_BYTES)));',
    replace:
      'if (offset + record.length < bytes.length || bytes.length < 200) settlements.push(decodeSettlement(record.subarray(HEAD_BYTES)));',
  },
];
