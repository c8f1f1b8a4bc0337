import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsOptions } from './http1/open-socket.ts';

interface UpstreamTls {
  readonly name: string;
  readonly tls:
    | { readonly caFile: string | undefined; readonly serverName: string | undefined }
    | undefined;
}

/**
 * Throws if the file of the authorities cannot be used. Otherwise connections would fail one by
 * one.
 */
export function readUpstreamTls({ name, tls }: UpstreamTls): TlsOptions {
  const { caFile, serverName } = tls ?? {};
  return {
    ...(caFile !== undefined && { ca: readAuthorities(name, caFile) }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

function readAuthorities(name: string, caFile: string): Buffer {
  try {
    const pem = readFileSync(caFile);
    new X509Certificate(pem);
    return pem;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`tls.ca_file of the upstream ${name} cannot be used: ${reason}`, { cause });
  }
}
