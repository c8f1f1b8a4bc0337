import { expect, it } from 'vitest';
import { writeInput } from '../../../../src/protocol/json/input-text.ts';
import { JSON_NAME_BYTES_MAX, JSON_PARTS_MAX } from '../../../../src/protocol/json/json-place.ts';
import { createPartsRoom, parseArguments } from '../../../../src/protocol/json/parse-arguments.ts';

it('arguments that say a name again in wide letters are padded, however long its numbers get', () => {
  const again = `"a":"${'漢'.repeat(340)}","a":1`;
  const numbers = `"n":[${Array(20).fill('1e20').join()}],"id":1234567890123456789`;
  const json = `{${again},${numbers}}`;
  const { input, isPadded } = parseArguments(json, createPartsRoom());
  // What goes on is far longer in bytes than what is read, though not in letters.
  expect(writeInput(input)).toBe(json);
  expect(json.length - JSON.stringify(input).length).toBeLessThanOrEqual(64);
  expect(isPadded).toBe(true);
});

it('arguments with the usual gaps are not padded', () => {
  const json = `{"city": "${'x'.repeat(99)}", "days": [1, 2, 3], "id": 1234567890123456789}`;
  expect(parseArguments(json, createPartsRoom()).isPadded).toBe(false);
});

it('arguments with a name that is longer than any may be are not read', () => {
  const write = (name: string) => JSON.stringify({ a: [{ [name]: 1 }] });
  const long = write('n'.repeat(JSON_NAME_BYTES_MAX + 1));
  expect(writeInput(parseArguments(long, createPartsRoom()).input)).not.toBe(long);
  const longest = write('n'.repeat(JSON_NAME_BYTES_MAX));
  expect(writeInput(parseArguments(longest, createPartsRoom()).input)).toBe(longest);
});

it('all arguments of a request together have a bound of lists, objects and members', () => {
  const room = createPartsRoom();
  const json = `{"a":[${Array(JSON_PARTS_MAX / 2 - 3).fill('{}')}]}`;
  const isRead = () => !('_raw' in parseArguments(json, room).input);
  expect([isRead(), isRead(), isRead()]).toEqual([true, true, false]);
});
