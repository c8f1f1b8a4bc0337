import { BooksError } from './books-error.ts';

/** What all questions of a node may keep in memory together. One of them may have all of it. */
export const ROWS_HELD_MAX = 150_000;

/** The rows that one question keeps in memory. Whoever takes rows over drops them afterwards. */
export interface RowShare {
  /** Throws if all questions together would keep too many; then these do not count. */
  add(rows: number): void;
  drop(rows: number): void;
  /**
   * How many more it may keep at the moment. A question that is alone is bound only by the limit
   * of its own work.
   */
  room(): number;
  /** The question has ended, in whatever way: none of its rows count any more. */
  end(): void;
}

/** Counts the rows of all questions that are under way. */
export interface RowBudget {
  /** Opens the share of one question, which has to end it. */
  open(): RowShare;
}

export function createRowBudget(rowsMax: number): RowBudget {
  let all = 0;
  return {
    open() {
      let own = 0;
      const change = (rows: number) => {
        own += rows;
        all += rows;
      };
      const room = () => (all === own ? Number.POSITIVE_INFINITY : Math.max(rowsMax - all, 0));
      return {
        add(rows) {
          if (rows > room()) throw refuseForOthers();
          change(rows);
        },
        drop: (rows) => change(-rows),
        room,
        end: () => change(-own),
      };
    },
  };
}

/** To be thrown where others have the rows that a question needs. */
export function refuseForOthers(): BooksError {
  return new BooksError(
    'books_busy',
    'other questions keep too many rows of the books in memory: ask again, or for fewer rows',
  );
}
