import type { BooksTarget } from '../../lib/address/books-target.ts';
import { describeError } from '../../lib/describe-error.ts';
import { type Finding, failCheck, passCheck } from '../finding.ts';
import type { BooksAccess } from './books-access.ts';

/** Advice by the code of the error, of Postgres or of the system. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'Put the right user and password into books.url.',
  '28000': 'Let the user in from here: pg_hba.conf of the server, and sslmode= of books.url.',
  '3D000': 'Create the database: create database tollgate owner tollgate.',
  '42501': 'Make the user of books.url the owner of all tables: reassign owned by OTHER to USER.',
  '53300': 'Raise max_connections of the server, or lower books.connections.',
  '57P03': 'Wait until the server has started, or recovered.',
};
const OTHER_ADVICE: Readonly<Record<BooksTarget['kind'], string>> = {
  file: 'Give the file to the user of the node, or restore it from a backup.',
  postgres: 'Start the server of the books, or correct books.url or the network to it.',
};

export async function checkReachable(
  opening: Promise<BooksAccess>,
  kind: BooksTarget['kind'],
): Promise<Finding> {
  try {
    return passCheck((await opening).name);
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    return failCheck(describeError(error), ADVICE[code] ?? OTHER_ADVICE[kind]);
  }
}
