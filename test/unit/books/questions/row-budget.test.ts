import { expect, it } from 'vitest';
import { createRowBudget } from '../../../../src/books/questions/row-budget.ts';

const ROWS_MAX = 100;
const BUSY = expect.objectContaining({ code: 'books_busy' });

it('refuses rows that do not fit beside those of other questions, and does not count them', () => {
  const budget = createRowBudget(ROWS_MAX);
  const [first, second, third] = [budget.open(), budget.open(), budget.open()];
  first.add(60);
  second.add(30);
  expect(() => second.add(11)).toThrow(BUSY);
  expect(() => third.add(11)).toThrow(BUSY);
  expect(third.room()).toBe(10);
  third.add(10);
  expect(() => first.add(1)).toThrow(BUSY);
});

it('leaves a question that is alone to its own bound', () => {
  const budget = createRowBudget(ROWS_MAX);
  const [alone, other] = [budget.open(), budget.open()];
  alone.add(ROWS_MAX);
  alone.add(1);
  expect(alone.room()).toBe(Number.POSITIVE_INFINITY);
  expect(() => other.add(1)).toThrow(BUSY);
  expect(other.room()).toBe(0);
  other.add(0);
});

it('counts neither what is dropped nor anything of a question that has ended', () => {
  const budget = createRowBudget(ROWS_MAX);
  const [first, second] = [budget.open(), budget.open()];
  first.add(60);
  first.drop(20);
  expect(second.room()).toBe(60);
  second.add(60);
  expect(() => second.add(1)).toThrow(BUSY);
  first.end();
  first.end();
  expect(second.room()).toBe(Number.POSITIVE_INFINITY);
  expect(first.room()).toBe(40);
  second.end();
  expect(first.room()).toBe(Number.POSITIVE_INFINITY);
});
