import { expect, test } from 'vitest';
import { createFactsReader } from '../../src/bookkeeping/create-facts-reader.ts';
import { describeBooks } from '../books/books-scene.ts';
import { createMemoryLog } from '../support/memory-log.ts';

describeBooks('what the metrics say of the books', (scene) => {
  test('is nothing while it cannot be read, which the log tells once', async () => {
    const books = await scene.create();
    const log = createMemoryLog();
    const reader = createFactsReader(books, log);
    await reader.read();
    expect(reader.facts()).toMatchObject({ gaps: 0 });

    await books.db.schema.alterTable('gaps').renameTo('gaps_away').execute();
    await reader.read();
    await reader.read();
    expect(reader.facts()).toBeUndefined();
    const failure = 'what the metrics say of the books cannot be read';
    expect(log.lines).toMatchObject([{ level: 'warn', message: failure, fields: { err: {} } }]);

    await books.db.schema.alterTable('gaps_away').renameTo('gaps').execute();
    await reader.read();
    expect(reader.facts()).toMatchObject({ gaps: 0 });
    expect(log.lines[1]).toMatchObject({ level: 'info', message: `no longer: ${failure}` });
  });
});
