import { join } from 'node:path';
import type { BooksTarget } from '../lib/address/books-target.ts';
import { DATA_FILES } from '../lib/data-files.ts';
import type { Config } from './config.ts';

export function booksTargetOf({ books, dataDir }: Pick<Config, 'books' | 'dataDir'>): BooksTarget {
  const { place, connectionsMax } = books;
  if (place.kind === 'file') return { kind: 'file', dir: join(dataDir, DATA_FILES.books) };
  return { kind: 'postgres', url: place.url.reveal(), connectionsMax };
}
