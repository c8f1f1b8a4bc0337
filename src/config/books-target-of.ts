import { join } from 'node:path';
import type { BooksTarget } from '../lib/address/books-target.ts';
import type { Config } from './config.ts';

/** In the data folder of a node without a server of its own. */
const DIR = 'books';

export function booksTargetOf({ books, dataDir }: Pick<Config, 'books' | 'dataDir'>): BooksTarget {
  const { place, connectionsMax } = books;
  if (place.kind === 'file') return { kind: 'file', dir: join(dataDir, DIR) };
  return { kind: 'postgres', url: place.url.reveal(), connectionsMax };
}
