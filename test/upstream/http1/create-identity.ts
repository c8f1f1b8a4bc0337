import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type CleanUp, createTempDir } from '../../support/create-temp-dir.ts';

export interface Identity {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The certificate as a file. */
  readonly certPath: string;
}

/** A self-signed certificate for `IP:…` or `DNS:…`. Call it before the tests of a file. */
export function createIdentity(subject: string): Identity {
  const dir = createTempDir(afterAll as CleanUp);
  const [keyPath, certPath] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'],
      ...['-addext', `subjectAltName=${subject}`, '-keyout', keyPath, '-out', certPath],
    ],
    { stdio: 'ignore' },
  );
  return { cert: readFileSync(certPath), key: readFileSync(keyPath), certPath };
}
