import { once } from 'node:events';
import { copyFileSync, readdirSync } from 'node:fs';
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createS3Place } from '../../../src/books/archive/s3-place.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { startS3Server } from '../../support/servers/start-s3-server.ts';

/** Deals with a request itself, or changes what it passes on. */
type Fault = (request: IncomingMessage, response: ServerResponse) => boolean | Buffer;

/** A real S3 server behind a proxy that can fail. */
async function startFaultyServer(fault: Fault) {
  const settings = await startS3Server();
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const dealt = fault(request, response);
    if (dealt === true) return;
    const { method = '', url = '', headers } = request;
    const onward = forward(settings.endpoint + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    if (dealt === false) request.pipe(onward);
    else request.resume().on('end', () => onward.end(dealt));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return { settings: { ...settings, endpoint: `http://127.0.0.1:${port}`, prefix: 'p' }, seen };
}

describe('a bucket', () => {
  it('is asked again after answers that may pass and after broken connections', async () => {
    let requests = 0;
    const { settings, seen } = await startFaultyServer((_request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(503).end('<Code>SlowDown</Code>');
      else if (requests === 2) response.destroy();
      else if (requests === 4)
        response.writeHead(200, { 'content-length': 5 }).write('abc', () => response.destroy());
      else return false;
      return true;
    });
    const place = createS3Place(settings);
    await place.putText('a/b', 'abcde');
    expect(seen).toEqual([
      ...Array(3).fill('PUT /books/p/a/b'),
      ...Array(2).fill('GET /books/p/a/b'),
    ]);
    expect(await place.readText('a/b')).toBe('abcde');
  });

  it('is given up after some attempts', async () => {
    const { settings, seen } = await startFaultyServer((_request, response) => {
      response
        .writeHead(500)
        .end('<Error><Code>InternalError</Code><Message>Sorry.</Message></Error>');
      return true;
    });
    const place = createS3Place(settings);
    await expect(place.readText('a')).rejects.toThrow(
      'GET s3://books/p/a: status 500 InternalError Sorry.',
    );
    expect(seen).toHaveLength(5);
  });

  it('is not believed to hold what arrived changed', async () => {
    const { settings } = await startFaultyServer(({ method }) =>
      method === 'PUT' ? Buffer.from('abcdX') : false,
    );
    await expect(createS3Place(settings).putText('a', 'abcde')).rejects.toThrow(
      'p/a arrived wrongly: its SHA-256 differs',
    );
  });

  it('that refuses the keys is not asked twice', async () => {
    const { settings, seen } = await startFaultyServer(() => false);
    const place = createS3Place({ ...settings, secretKey: new Secret('another') });
    await expect(place.putText('a', 'b')).rejects.toThrow('status 403 SignatureDoesNotMatch');
    expect(seen).toHaveLength(1);
  });

  it('that does not exist is told from a missing object', async () => {
    const settings = await startS3Server();
    const place = createS3Place({ ...settings, bucket: 'other', prefix: '' });
    await expect(place.readText('a')).rejects.toThrow('status 404 NoSuchBucket');
    await expect(place.list('a')).rejects.toThrow('status 404 NoSuchBucket');
    await expect(place.putText('a', 'b')).rejects.toThrow('status 404 NoSuchBucket');
    const existing = createS3Place({ ...settings, prefix: '' });
    expect(await existing.readText('a')).toBeUndefined();
    expect(await existing.bringHere('a', '/nowhere-to-write')).toBeUndefined();
    await existing.remove('a');
  });

  it.each([404, 200])(
    'is not taken for empty when it answers with %i and a page',
    async (status) => {
      const { settings } = await startFaultyServer((_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Not here.</p>');
        return true;
      });
      const place = createS3Place({ ...settings, firstWaitMs: 1 });
      await expect(place.list('manifest/')).rejects.toThrow(
        `the answer of status ${status} is no list of a bucket`,
      );
    },
  );

  it('lists more names than one answer has', async () => {
    const { settings, seen } = await startFaultyServer(() => false);
    const place = createS3Place(settings);
    await place.putText('many/x', 'x');
    const folder = join(settings.directory, settings.bucket, 'p/many');
    const names = Array.from({ length: 1_010 }, (_, index) => `many/${10_000 + index}`);
    for (const file of readdirSync(folder)) {
      for (const name of names) {
        copyFileSync(join(folder, file), join(folder, file.replace('x', name.slice(5))));
      }
    }
    await place.remove('many/x');
    expect(await place.list('many/')).toEqual(names);
    expect(seen.filter((line) => line.includes('continuation-token'))).toHaveLength(1);
  });
});
