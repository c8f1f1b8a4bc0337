import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { startS3Server } from '../support/servers/start-s3-server.ts';
import { examine, problem } from './examine.ts';

async function find(archive: string) {
  const result = await examine({ settings: `books: {archive: ${archive}}` });
  return result('books-archive');
}

it('needs no archive', async () => {
  expect((await examine())('books-archive').state).toBe('skipped');
});

it('tries a folder, and leaves it as it was', async () => {
  const folder = join(createTempDir(), 'archive');
  expect(await find(`{folder: '${folder}'}`)).toEqual(problem('failed', 'ENOENT', 'the folder'));
  mkdirSync(folder);
  expect(await find(`{folder: '${folder}'}`)).toEqual({ state: 'ok', found: folder });
  expect(readdirSync(folder)).toEqual([]);
});

it('tries a bucket, and leaves it as it was', async () => {
  const { endpoint, region, bucket, accessKey, directory } = await startS3Server();
  const place = (more: object) => {
    const keys = { access_key: accessKey, secret_key: 'S3RVER' };
    return JSON.stringify({
      s3: { endpoint, region, bucket, prefix: 'tollgate', ...keys, ...more },
    });
  };
  const files = () => readdirSync(join(directory, bucket), { recursive: true });
  expect(await find(place({}))).toEqual({ state: 'ok', found: `s3://${bucket}/tollgate/` });
  expect(files().filter((name) => String(name).includes('doctor'))).toEqual([]);
  expect(await find(place({ secret_key: 'wrong' }))).toEqual(
    problem('failed', 'SignatureDoesNotMatch', 'key'),
  );
  expect(await find(place({ bucket: 'missing' }))).toEqual(
    problem('failed', 'NoSuchBucket', 'books.archive'),
  );
  const nowhere = await find(place({ endpoint: 'http://127.0.0.1:1' }));
  expect(nowhere).toEqual(problem('failed', 'ECONNREFUSED', 'books.archive'));
});
