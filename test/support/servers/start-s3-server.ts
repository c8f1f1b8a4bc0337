import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { S3Settings } from '../../../src/books/archive/ask-s3.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { createTempDir } from '../create-temp-dir.ts';

const BUCKET = 'books';
const SCRIPT = `
  const S3rver = require('@20minutes/s3rver');
  const [directory, name] = process.argv.slice(1);
  const where = { address: '127.0.0.1', port: 0, directory };
  const server = new S3rver({ ...where, silent: true, configureBuckets: [{ name }] });
  server.run().then(({ port }) => console.log(port));
`;

interface TestS3Server extends S3Settings {
  /** Where it keeps its objects. */
  readonly directory: string;
}

/** A real S3 server that checks signatures, with one bucket, until the test ends. */
export async function startS3Server(): Promise<TestS3Server> {
  const directory = createTempDir();
  // Its long lists need a cipher that OpenSSL has only for old programs.
  const args = ['--openssl-legacy-provider', '-e', SCRIPT, directory, BUCKET];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as string[];
  return {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    bucket: BUCKET,
    accessKey: 'S3RVER',
    secretKey: new Secret('S3RVER'),
    firstWaitMs: 1,
    directory,
  };
}
