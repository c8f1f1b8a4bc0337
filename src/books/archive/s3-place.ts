import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ArchiveStore } from './archive-store.ts';
import { type AskS3, createAskS3, type S3Body, type S3Settings } from './ask-s3.ts';
import { compareHashes, hashStream } from './hash-file.ts';

/** The archive in a bucket of an S3-compatible server; the prefix begins every key. */
export function createS3Place(settings: S3Settings & { readonly prefix: string }): ArchiveStore {
  const ask = createAskS3(settings);
  const folder = settings.prefix.replace(/^\/+|\/+$/g, '');
  const prefix = folder === '' ? '' : `${folder}/`;
  const put = async (name: string, body: S3Body) => {
    const key = prefix + name;
    await ask({ method: 'PUT', key, body }, async (answer) => {
      if (answer.statusCode === 404) throw new Error('the bucket does not exist');
    });
    const found = await ask({ method: 'GET', key }, hashStream);
    const difference = compareHashes(body, found);
    if (difference !== undefined) throw new Error(`${key} arrived wrongly: ${difference}`);
  };
  return {
    title: `s3://${settings.bucket}/${prefix}`,
    putFile: (name, file) =>
      put(name, {
        bytes: file.bytes,
        sha256: file.sha256,
        open: () => createReadStream(file.path),
      }),
    putText: (name, content) => {
      const bytes = Buffer.from(content);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return put(name, { bytes: bytes.length, sha256, open: () => Readable.from([bytes]) });
    },
    readText: (name) =>
      ask({ method: 'GET', key: prefix + name }, async (answer) =>
        answer.statusCode === 404 ? undefined : await text(answer),
      ),
    list: async (beginning) => {
      const keys = await listKeys(ask, prefix + beginning);
      return keys.map((key) => key.slice(prefix.length)).toSorted();
    },
    remove: (name) => ask({ method: 'DELETE', key: prefix + name }, async () => {}),
    bringHere: async (name, into) => {
      await mkdir(into, { recursive: true });
      const path = join(into, basename(name));
      return await ask({ method: 'GET', key: prefix + name }, async (answer) => {
        if (answer.statusCode === 404) return undefined;
        await pipeline(answer, createWriteStream(path));
        return path;
      });
    },
  };
}

async function listKeys(ask: AskS3, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      prefix,
      ...(token === undefined ? {} : { 'continuation-token': token }),
    };
    const page = await ask({ method: 'GET', key: '', query }, readListing);
    for (const [, escaped = ''] of page.matchAll(/<Key>([^<]*)<\/Key>/g)) {
      const key = unescapeXml(escaped);
      if (!key.startsWith(prefix)) throw new Error(`${key} was listed under ${prefix}`);
      keys.push(key);
    }
    const [, next] = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(page) ?? [];
    token = next === undefined ? undefined : unescapeXml(next);
  } while (token !== undefined);
  return keys;
}

/** A proxy may answer in the place of the server: that must not look like an empty bucket. */
async function readListing(answer: IncomingMessage): Promise<string> {
  const page = await text(answer);
  if (answer.statusCode !== 404 && page.includes('<ListBucketResult')) return page;
  throw new Error(`the answer of status ${answer.statusCode} is no list of a bucket`);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function unescapeXml(escaped: string): string {
  return escaped.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}
