import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import type { Secret } from '../../lib/secret.ts';
import type { FileHash } from './hash-file.ts';

export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`: the bucket is put into the path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: Secret;
  /** Default: half a second. */
  readonly firstWaitMs?: number;
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
}

export interface S3Body extends FileHash {
  /** Called for each attempt. */
  open(): Readable;
}

/** Takes the answer: one with a status of 200 to 299, or 404. */
export type ReadAnswer<Value> = (answer: IncomingMessage) => Promise<Value>;

export type AskS3 = <Value>(request: S3Request, read: ReadAnswer<Value>) => Promise<Value>;

const ATTEMPTS_MAX = 5;
const FIRST_WAIT_MS = 500;
/** How long a call may go without a byte in either direction. */
const SILENCE_MAX_MS = 60_000;
const MESSAGE_CHARS_MAX = 300;
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** An answer that refuses the request. */
class S3Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks again after a broken connection, a silence, or a status that may be temporary. */
export function createAskS3(settings: S3Settings): AskS3 {
  return async (request, read) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await askOnce(settings, request, read);
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !mayPass(error)) throw explain(settings, request, error);
        await sleep((settings.firstWaitMs ?? FIRST_WAIT_MS) * 2 ** (attempt - 1));
      }
    }
  };
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof S3Refusal)) return true;
  return error.status >= 500 || error.status === 429 || error.status === 408;
}

function explain(settings: S3Settings, { method, key }: S3Request, error: unknown): Error {
  const reason = error instanceof Error ? error.message : `${error}`;
  return new Error(`${method} s3://${settings.bucket}/${key}: ${reason}`, { cause: error });
}

async function askOnce<Value>(
  settings: S3Settings,
  request: S3Request,
  read: ReadAnswer<Value>,
): Promise<Value> {
  const answer = await send(settings, request);
  try {
    const status = answer.statusCode ?? 0;
    if (status !== 404 && (status < 200 || status > 299)) throw await readRefusal(answer);
    // A bucket that does not exist must not look like a missing object.
    if (status === 404 && answer.headers['content-type']?.includes('xml')) {
      const refusal = await readRefusal(answer);
      if (!refusal.message.includes('NoSuchKey')) throw refusal;
    }
    return await read(answer);
  } finally {
    answer.destroy();
  }
}

async function readRefusal(answer: IncomingMessage): Promise<S3Refusal> {
  const body = await text(answer);
  const [, code] = /<Code>([^<]*)<\/Code>/.exec(body) ?? [];
  const [, message] = /<Message>([^<]*)<\/Message>/.exec(body) ?? [];
  const words = `${code ?? ''} ${message ?? ''}`.trim().slice(0, MESSAGE_CHARS_MAX);
  return new S3Refusal(answer.statusCode ?? 0, `status ${answer.statusCode} ${words}`.trim());
}

async function send(settings: S3Settings, request: S3Request): Promise<IncomingMessage> {
  const { method, body } = request;
  const url = new URL(settings.endpoint);
  const path = [settings.bucket, request.key].filter((part) => part !== '').join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path.split('/').map(encodeURIComponent).join('/')}`;
  url.search = new URLSearchParams(request.query).toString();
  const signed = await new AwsV4Signer({
    method,
    url: url.href,
    headers: { 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 },
    accessKeyId: settings.accessKey,
    secretAccessKey: settings.secretKey.reveal(),
    service: 's3',
    region: settings.region,
  }).sign();
  const headers = {
    ...Object.fromEntries(signed.headers),
    ...(body === undefined ? {} : { 'content-length': body.bytes }),
  };
  return await new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = start(url, { method, headers, timeout: SILENCE_MAX_MS });
    sent.once('timeout', () => {
      sent.destroy(new Error(`nothing moved for ${SILENCE_MAX_MS / 1000} s`));
    });
    sent.once('response', resolve);
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else pipeline(body.open(), sent, (error) => error && reject(error));
  });
}
