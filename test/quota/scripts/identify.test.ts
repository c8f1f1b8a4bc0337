import { describe, expect, it } from 'vitest';
import { identify } from '../../../src/quota/scripts/identify.ts';
import { ACCOUNT, BUCKET, DIGEST, KEY, NOW_MS, openScripts } from './open-scripts.ts';

const scripts = openScripts('identify');
const ask = (digest = DIGEST, keyId = KEY) =>
  identify(scripts.connection, { bucket: BUCKET, keyId, digest });

describe('identify', () => {
  it('knows a key, its account and its models', async () => {
    expect(await ask()).toEqual({ kind: 'known', accountId: ACCOUNT, models: undefined });
    await scripts.setKey({ models: ',opus,llm-sonnet-4.6,' });
    expect(await ask()).toMatchObject({ models: ['opus', 'llm-sonnet-4.6'] });
  });

  it('knows no other key and no other digest', async () => {
    expect(await ask('other')).toEqual({ kind: 'unknown' });
    expect(await ask(DIGEST, '03another01')).toEqual({ kind: 'unknown' });
  });

  it('takes the digest before the last one until its overlap ends', async () => {
    await scripts.setKey({ digest: 'new', old_digest: DIGEST, old_until: NOW_MS + 1 });
    expect(await ask()).toMatchObject({ kind: 'known' });
    await scripts.setClock(NOW_MS + 1);
    expect(await ask()).toEqual({ kind: 'unknown' });
    expect(await ask('new')).toMatchObject({ kind: 'known' });
  });

  it('tells what is wrong with a key to those who know its secret', async () => {
    await scripts.setAccount({ status: 'suspended' });
    expect(await ask()).toEqual({ kind: 'suspended' });
    await scripts.setKey({ expires: NOW_MS });
    expect(await ask()).toEqual({ kind: 'expired' });
    await scripts.setKey({ status: 'revoked' });
    expect(await ask()).toEqual({ kind: 'revoked' });
    expect(await ask('other')).toEqual({ kind: 'unknown' });
  });

  it('takes a key until its last millisecond', async () => {
    await scripts.setKey({ expires: NOW_MS + 1 });
    expect(await ask()).toMatchObject({ kind: 'known' });
  });
});
