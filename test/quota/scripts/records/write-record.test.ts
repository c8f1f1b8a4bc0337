import { unpack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { CHANGES_CHANNEL } from '../../../../src/redis/redis-keys.ts';
import { ACCOUNT, DIGEST, KEY, NOW_MS, openScripts, redisKeys } from '../open-scripts.ts';

const scripts = openScripts('write-record');
const NEW_KEY = '03newkey001';
const created = { id: NEW_KEY, record: redisKeys.key(NEW_KEY), expected: 'new' };
const newKey = () => scripts.hash(redisKeys.key(NEW_KEY));

describe('write-record', () => {
  it('creates a record, once', async () => {
    const fields = { status: 'active', account: ACCOUNT };
    expect(await scripts.writeRecord({ ...created, fields })).toEqual({
      kind: 'written',
      version: 1,
    });
    expect(await scripts.writeRecord({ ...created, fields })).toEqual({
      kind: 'written',
      version: 1,
    });
    expect(await newKey()).toEqual({ ...fields, writes: 'write,', version: '1' });
    expect(await scripts.send('smembers', redisKeys.keysOf(ACCOUNT))).toEqual([NEW_KEY]);
    expect(await scripts.writeRecord({ ...created, fields, writeId: 'other' })).toEqual({
      kind: 'conflict',
      version: 1,
    });
  });

  it('changes no record that does not exist', async () => {
    for (const expected of ['', '1', '<5']) {
      const change = { ...created, expected, fields: { status: 'active' } };
      expect(await scripts.writeRecord(change), expected).toEqual({ kind: 'missing' });
    }
    expect(await newKey()).toEqual({});
  });

  it.each([
    ['', 4],
    ['3', 4],
    ['2', undefined],
    ['4', undefined],
    ['<4', 4],
    ['<3', undefined],
    ['<2', undefined],
    ['new', undefined],
  ])('of version 3, expected to be "%s", writes %s', async (expected, version) => {
    await scripts.setKey({ version: 3 });
    expect(await scripts.writeRecord({ expected, fields: { rpm: '7' } })).toEqual(
      version === undefined ? { kind: 'conflict', version: 3 } : { kind: 'written', version },
    );
    expect((await scripts.key())['rpm']).toBe(version === undefined ? undefined : '7');
  });

  it('deletes a field that is empty', async () => {
    await scripts.setKey({ cap: 5, rpm: 7 });
    await scripts.writeRecord({ fields: { cap: '' } });
    const key = await scripts.key();
    expect(key).toMatchObject({ rpm: '7', status: 'active' });
    expect(key).not.toHaveProperty('cap');
  });

  it('keeps the digest that is replaced for as long as it is told', async () => {
    await scripts.writeRecord({ fields: { digest: 'new' }, overlapMs: 5_000 });
    expect(await scripts.key()).toMatchObject({
      digest: 'new',
      old_digest: DIGEST,
      old_until: String(NOW_MS + 5_000),
    });
    expect(await scripts.admit()).toMatchObject({ kind: 'admitted' });
    await scripts.setClock(NOW_MS + 5_000);
    expect(await scripts.admit()).toEqual({ kind: 'unknown' });
  });

  it('rotates once, however often it is told to', async () => {
    const rotation = { fields: { digest: 'new' }, overlapMs: 5_000 };
    await scripts.writeRecord(rotation);
    await scripts.writeRecord(rotation);
    expect(await scripts.key()).toMatchObject({ digest: 'new', old_digest: DIGEST, version: '2' });
  });

  it('knows a write again although others came after it', async () => {
    const rotation = { fields: { digest: 'first' }, overlapMs: 5_000, writeId: 'w1' };
    await scripts.writeRecord(rotation);
    for (let i = 2; i <= 9; i++) {
      await scripts.writeRecord({
        fields: { digest: `of ${i}` },
        overlapMs: 5_000,
        writeId: `w${i}`,
      });
    }
    expect(await scripts.writeRecord(rotation)).toMatchObject({ kind: 'written' });
    expect(await scripts.key()).toMatchObject({ digest: 'of 9', version: '10' });
  });

  it('remembers no more writes than it has room for', async () => {
    for (let i = 0; i < 100; i++)
      await scripts.writeRecord({ fields: { rpm: '1' }, writeId: `write ${i}` });
    expect((await scripts.key())['writes']).toHaveLength(300);
  });

  it('tells what it wrote, and of nothing else', async () => {
    const messages: Buffer[] = [];
    const stop = await scripts.subscribe(CHANGES_CHANNEL, (message) => messages.push(message));
    await scripts.writeRecord({ fields: { status: 'revoked' } });
    await scripts.writeRecord({ fields: { status: 'revoked' } });
    await scripts.writeRecord({ writeId: 'other', expected: '9', fields: { status: 'active' } });
    await scripts.writeRecord({ writeId: 'last', fields: { status: 'active' } });
    await stop(() => messages.length >= 2);
    expect(messages.map((message) => unpack(message))).toEqual([
      [1, 'key', KEY, 2, 'revoked', expect.stringMatching(/^\d{13}$/)],
      [1, 'key', KEY, 3, 'active', expect.stringMatching(/^\d{13}$/)],
    ]);
  });
});
