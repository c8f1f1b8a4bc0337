import type { Books } from '../books/engine/books.ts';
import { type BooksFacts, readFacts } from '../books/questions/read-facts.ts';
import type { Log } from '../lib/log.ts';
import { logFailures } from './log-failures.ts';

interface FactsReader {
  /** The facts as last read. Undefined if that failed: old numbers would look like new ones. */
  facts(): BooksFacts | undefined;
  read(): Promise<void>;
}

export function createFactsReader(books: Books, log: Log): FactsReader {
  let facts: BooksFacts | undefined;
  const read = async () => {
    try {
      facts = await readFacts(books);
    } catch (error) {
      facts = undefined;
      throw error;
    }
  };
  return {
    facts: () => facts,
    read: logFailures(read, 'what the metrics say of the books cannot be read', log),
  };
}
