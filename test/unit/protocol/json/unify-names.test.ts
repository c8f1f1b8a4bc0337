import { expect, it, vi } from 'vitest';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { embeddingsFormat } from '../../../../src/protocol/embeddings/embeddings-format.ts';
import { readJsonBody } from '../../../../src/protocol/json/parse-json-body.ts';
import {
  type KnownNames,
  knowNames,
  unifyNames,
} from '../../../../src/protocol/json/unify-names.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';

const FORMATS = [nativeFormat, chatFormat, responsesFormat, embeddingsFormat];
const KNOWN = knowNames(['model', 'is_kept']);

function unify(fields: object, known: KnownNames) {
  const body = readJsonBody(Buffer.from(JSON.stringify(fields)));
  return unifyNames(body, known) === body ? 'as it came' : 'written anew';
}

it.each([
  ['in capitals', 'MODEL', 'model'],
  ['with a letter of Turkish', 'İS_KEPT', 'is_kept'],
  ['with the sign of a unit', 'is_\u212aept', 'is_kept'],
  ['in letters of mathematics', '𝐦𝐨𝐝𝐞𝐥', 'model'],
  ['in wide letters', 'ｉｓ＿ｋｅｐｔ', 'is_kept'],
])('a name that some readers take for a known one is refused: %s', (_, name, known) => {
  const fields = { messages: [{ [name]: 1 }] };
  expect(() => unify(fields, knowNames([known, 'messages']))).toThrow(`did you mean ${known}?`);
});

it('no character is so wide that a known name in a variant is too long to be recognised', () => {
  const letters = new Set('abcdefghijklmnopqrstuvwxyz0123456789_-');
  for (let point = 0; point <= 0x10_ff_ff; point += 1) {
    const character = String.fromCodePoint(point);
    const plain = character.normalize('NFKC').toLowerCase().replace('\u0307', '');
    if (plain.length !== 1 || !letters.has(plain)) continue;
    const name = character.repeat(30);
    expect(knowNames([plain.repeat(30)]).findLike(name)).toBe(plain.repeat(30));
  }
});

it('a name that is longer than any known one in any variant is not folded', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  try {
    expect(KNOWN.findLike('x'.repeat(22))).toBeUndefined();
    expect(normalize).not.toHaveBeenCalled();
    expect(KNOWN.findLike('ö'.repeat(21))).toBeUndefined();
    expect(normalize).toHaveBeenCalledTimes(1);
  } finally {
    normalize.mockRestore();
  }
});

it.each(FORMATS)('a name of many accents is not folded: $name', ({ knownNames }) => {
  const name = `a${'\u0301\u0316'.repeat(3_000)}`;
  const normalize = vi.spyOn(String.prototype, 'normalize');
  try {
    const fields = { model: 'm', messages: [{ [name]: { [name]: 1 } }], [name]: 1 };
    expect(unify(fields, knownNames)).toBe('as it came');
    expect(normalize.mock.contexts.map(String)).not.toContain(name);
  } finally {
    normalize.mockRestore();
  }
});
