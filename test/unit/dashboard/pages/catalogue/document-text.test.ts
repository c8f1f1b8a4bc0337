import { expect, it } from 'vitest';
import {
  formatDocument,
  parseDocument,
} from '../../../../../src/dashboard/pages/catalogue/document-text.ts';

it('keeps on one line what fits on it, and reads its own text', () => {
  const document = {
    plans: { starter: 60, pro: 300 },
    models: [
      { id: 'tiny', aliases: ['a, "b'], price: { input: 1, output: 2, cache_read: undefined } },
      { id: 'long', aliases: Array.from({ length: 20 }, (_, i) => `alias-${i}`), routes: [] },
    ],
  };
  const text = formatDocument(document);
  expect(text).toContain('\n  "plans": {"starter": 60, "pro": 300},\n');
  expect(text).toContain('\n      "price": {"input": 1, "output": 2}\n');
  expect(text).toContain('\n        "alias-19"\n');
  expect(parseDocument(text)).toEqual(JSON.parse(JSON.stringify(document)));
});

it('refuses a text that is no object, and says where it is broken', () => {
  expect(() => parseDocument('{"plans": }')).toThrow(/^this is not JSON: .*Unexpected token/);
  for (const text of ['[]', 'null', '3']) {
    expect(() => parseDocument(text)).toThrow('an object with plans and models');
  }
});
