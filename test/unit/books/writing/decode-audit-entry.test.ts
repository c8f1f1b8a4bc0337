import { expect, test } from 'vitest';
import { decodeAuditEntry } from '../../../../src/books/writing/decode-audit-entry.ts';

const ENTRY = {
  what: 'change key',
  // As earlier versions wrote it.
  who: { via: 'api', token: 'abcd', address: null },
  ...{ node: 'no\0de', account: 'acct_a', key: null, outcome: 'done' },
  ...{ before: null, after: { name: 'new' } },
};
const decode = (entry: object, at = '1000', id = '1000-3') =>
  decodeAuditEntry(id, ['id', 'e1', 'at', at, 'entry', JSON.stringify(entry)]);

test('an entry of the audit log is read without the bytes that Postgres does not take', () => {
  expect(decode(ENTRY)).toEqual({
    ...{ entry: 'e1', ms: 1000, seq: 3, what: 'change key', via: 'api', token: 'abcd' },
    ...{ address: null, node: 'node', account: 'acct_a', key: null, outcome: 'done' },
    ...{ before: null, after: '{"name":"new"}', operator: null, operator_name: null },
  });
});

test('an entry that was written again has its first time, and a place of its own', () => {
  const [first, again] = [decode(ENTRY), decode(ENTRY, '1000', '1005-3')];
  expect(again.ms).toBe(first.ms);
  expect(again.seq).toBeGreaterThan(first.seq);
});

test('what is no entry of the audit log is not read', () => {
  expect(() => decode({ ...ENTRY, what: 7 })).toThrow();
  expect(() => decode(ENTRY, 'x')).toThrow();
  expect(() => decodeAuditEntry('1000-3', ['what', 'x'])).toThrow();
});
