import { expect, it } from 'vitest';
import { createAnswerMemory, type GrowingAnswer } from '../../src/upstream/answer-memory.ts';

const LIMITS = { waitBytes: 100, heldBytesMax: 200 };

function createScene() {
  const memory = createAnswerMemory(LIMITS);
  const said: string[] = [];
  const createAnswer = (name: string): GrowingAnswer => {
    const note = (what: string) => () => void said.push(`${name} ${what}`);
    const accountId = name.slice(0, 1);
    return { accountId, pause: note('pauses'), resume: note('goes on'), giveUp: note('gives up') };
  };
  return { memory, said, createAnswer };
}

it('lets all but the oldest answer of an account wait while the memory is full', () => {
  const { memory, said, createAnswer } = createScene();
  const [a1, a2, a3] = ['a1', 'a2', 'a3'].map(createAnswer) as [
    GrowingAnswer,
    GrowingAnswer,
    GrowingAnswer,
  ];
  for (const answer of [a1, a2]) expect(memory.take(answer, 40)).toBe(true);
  expect(memory.take(a1, 40)).toBe(true);
  expect(said).toEqual([]);
  expect(memory.take(a3, 10)).toBe(true);
  expect(memory.take(a2, 10)).toBe(true);
  expect(said.splice(0)).toEqual(['a3 pauses', 'a2 pauses']);
  memory.giveBack(a1);
  expect(said).toEqual(['a2 goes on', 'a3 goes on']);
  expect(memory.heldBytes).toBe(60);
});

it('lets the account with the most give up its newest answers, and nobody who has less', () => {
  const { memory, said, createAnswer } = createScene();
  const [a1, a2, b1, c1] = ['a1', 'a2', 'b1', 'c1'].map(createAnswer) as [
    GrowingAnswer,
    GrowingAnswer,
    GrowingAnswer,
    GrowingAnswer,
  ];
  memory.take(a1, 70);
  memory.take(a2, 30);
  memory.take(b1, 90);
  expect(said.splice(0)).toEqual([]);
  expect(memory.take(c1, 20)).toBe(true);
  expect(said.splice(0)).toEqual(['a2 gives up']);
  expect(memory.heldBytes).toBe(180);
  // Its own share would be the largest.
  expect(memory.take(c1, 80)).toBe(false);
  expect(memory.take(b1, 21)).toBe(false);
  expect(said).toEqual([]);
  memory.giveBack(a2);
  expect(memory.heldBytes).toBe(180);
  for (const answer of [a1, b1, c1]) memory.giveBack(answer);
  expect(memory.heldBytes).toBe(0);
});
