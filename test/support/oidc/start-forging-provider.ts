import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { CleanUp } from '../create-temp-dir.ts';
import { findFreePort } from '../servers/find-free-port.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface ForgingProvider {
  readonly issuer: string;
  /** Changes the claims of the next ID tokens. */
  forge: (claims: Claims) => Claims;
  /** Signs with a key that nobody knows. */
  isKeyWrong: boolean;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const createKeys = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** A provider that lies: a real one never gives such ID tokens. */
export async function startForgingProvider(cleanUp: CleanUp): Promise<ForgingProvider> {
  const port = await findFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  const [keys, otherKeys] = [createKeys(), createKeys()];
  const started: ForgingProvider = { issuer, forge: (claims) => claims, isKeyWrong: false };
  let nonce = '';
  const createIdToken = () => {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = {
      ...{ iss: issuer, aud: 'tollgate', sub: 'mallory', name: 'Mallory', groups: ['admins'] },
      ...{ iat: nowS, exp: nowS + 300, nonce },
    };
    const text = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(started.forge(claims))}`;
    const { privateKey } = started.isKeyWrong ? otherKeys : keys;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  };
  const answers: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => ({
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'] },
      ...{ subject_types_supported: ['public'] },
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({
      keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }],
    }),
    '/token': () => ({ access_token: 'a', token_type: 'bearer', id_token: createIdToken() }),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    if (pathname === '/auth') {
      nonce = searchParams.get('nonce') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = `code=c&state=${searchParams.get('state')}`;
      response.writeHead(303, { location: back.href }).end();
      return;
    }
    const answer = answers[pathname];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    server.close();
    server.closeAllConnections();
  });
  return started;
}
