import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { NODE_RELEASES } from './node-releases.ts';
import { UWS_BUILD_SHA256 } from './uws-builds.ts';

/**
 * The part of uWebSockets.js that every supported build has. The package's own typings accept
 * misspelt calls.
 */
export interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  getQuery(): string;
  forEach(visit: (name: string, value: string) => void): void;
}

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  write(chunk: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(): UwsResponse;
  tryEnd(chunk: Uint8Array, totalBytes: number): [accepted: boolean, done: boolean];
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
  cork(write: () => void): UwsResponse;
  pause(): void;
  resume(): void;
  close(): UwsResponse;
}

/** The argument of the callback of `listen`; `false` if listening failed. */
export type UwsListenToken = object | false;

export interface UwsApp {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp;
  listen(host: string, port: number, done: (token: UwsListenToken) => void): UwsApp;
  listen_unix(done: (token: UwsListenToken) => void, path: string): UwsApp;
  close(): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  us_listen_socket_close(token: object): void;
  _cfg(setting: string): void;
}

interface UwsBuild {
  readonly uws: Uws;
  /** Package and version, for the log. */
  readonly label: string;
}

/**
 * In order of preference. The second package serves Node versions that the first has no file for.
 */
const PACKAGES = ['uWebSockets.js', 'uws-modern'];

const HASHED_PIECE_BYTES = 64 * 1024;

const requireNative = createRequire(import.meta.url);

/**
 * Throws with all reasons if no native build can be used. The packages' own fallback in JavaScript
 * is never used.
 */
export function loadUws(extraSha256: readonly string[]): UwsBuild {
  const fileName = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const trusted = new Set([...Object.values(UWS_BUILD_SHA256), ...extraSha256]);
  const reasons: string[] = [];
  for (const packageName of PACKAGES) {
    const result = tryPackage(packageName, fileName, trusted);
    if (typeof result !== 'string') return result;
    reasons.push(result);
  }
  if (!(process.versions.modules in NODE_RELEASES)) {
    const releases = Object.values(NODE_RELEASES).join(', ');
    reasons.push(`known builds are for Node.js ${releases} only`);
  }
  throw new Error(
    `no native build of uWebSockets.js loads on ${process.platform}-${process.arch}, Node ${process.versions.node} ` +
      `(ABI ${process.versions.modules}), ${describeLibc()}:\n${reasons.map((reason) => `  - ${reason}`).join('\n')}`,
  );
}

function tryPackage(
  packageName: string,
  fileName: string,
  trusted: ReadonlySet<string>,
): UwsBuild | string {
  const folder = findPackageFolder(packageName);
  if (folder === undefined) return `${packageName}: not installed`;
  const label = describePackage(packageName, folder);
  const file = [join(folder, fileName), join(folder, 'binaries', fileName)].find(existsSync);
  if (file === undefined) return `${label}: has no ${fileName}`;
  const sha256 = hashFile(file);
  if (!trusted.has(sha256)) {
    return `${label}: ${fileName} has the unknown sha256 ${sha256}; if you trust it, name it in the setting uws_sha256`;
  }
  try {
    const uws = requireNative(file) as Uws;
    // The only way to drop the product header from every answer.
    uws._cfg('silent');
    return { uws, label };
  } catch (error) {
    return `${label}: ${String((error as Error).message).split('\n')[0]}`;
  }
}

/**
 * Reads the file piece by piece. The whole file would be 7 MB at once, and once malloc has freed a
 * block of that size, it keeps twice as much free memory from the system for as long as the process
 * lives.
 */
function hashFile(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(HASHED_PIECE_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    let length: number;
    do {
      length = readSync(descriptor, piece);
      hash.update(piece.subarray(0, length));
    } while (length > 0);
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

/** Finds the folder by path, which bypasses the `exports` map and the fallback of the package. */
function findPackageFolder(packageName: string): string | undefined {
  let mainFile: string;
  try {
    mainFile = requireNative.resolve(packageName);
  } catch {
    return undefined;
  }
  const folder = dirname(mainFile);
  return existsSync(join(folder, 'package.json')) ? folder : dirname(folder);
}

function describePackage(alias: string, folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  return name === alias ? `${name}@${version}` : `${alias} (${name}@${version})`;
}

function describeLibc(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const glibc = report.header?.glibcVersionRuntime;
  return glibc === undefined ? 'no glibc' : `glibc ${glibc}`;
}
