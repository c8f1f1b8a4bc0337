import { formatByteSize } from '../../lib/units/parse-byte-size.ts';
import { type Finding, failCheck, passCheck, warnCheck } from '../finding.ts';

/** The backlog with which uWebSockets.js listens. */
const BACKLOG = 512;
/** Files for Redis, the log, the runtime and the bus. With fewer, nothing keeps running. */
const OPEN_FILES_RESERVE = 256;
/** Memory that a worker needs for itself, without the bodies that it may hold. */
const WORKER_MEMORY_BYTES = 128 * 1024 ** 2;
const MEBIBYTE = 1024 ** 2;
/** A random word of this many letters and digits has more than 100 bits. */
const ADMIN_TOKEN_CHARS_MIN = 20;

interface FileNeed {
  readonly limit: number;
  /** The process that the limit belongs to: a shell or a running node. */
  readonly whose: string;
  /**
   * Sockets for requests to all upstreams at once: two for each request, but one if the upstream is
   * simulated.
   */
  readonly socketsMax: number;
}

export function judgeOpenFiles({ limit, whose, socketsMax }: FileNeed): Finding {
  const needed = OPEN_FILES_RESERVE + socketsMax;
  const found = `${limit} for each process ${whose}`;
  if (limit >= needed) return passCheck(found);
  const advice = `Raise it to at least ${needed} (ulimit -n, or LimitNOFILE= of a service), more for idle clients.`;
  return limit < OPEN_FILES_RESERVE
    ? failCheck(found, advice)
    : warnCheck(`${found}, and max_concurrency may need ${needed}`, advice);
}

/** Whoever has the token can create credits, and only its length protects it from guessing. */
export function judgeAdminToken(token: string | undefined): Finding {
  if (token === undefined) return passCheck('a random one, in the data folder');
  const found = `ops.admin_token has ${token.length} characters`;
  if (token.length >= ADMIN_TOKEN_CHARS_MIN) return passCheck(found);
  const advice = `Set a random one of at least ${ADMIN_TOKEN_CHARS_MIN} characters: openssl rand -hex 32.`;
  return warnCheck(found, advice);
}

export function judgeAcceptQueue(somaxconn: number): Finding {
  return somaxconn >= BACKLOG
    ? passCheck(`net.core.somaxconn is ${somaxconn}`)
    : warnCheck(
        `net.core.somaxconn is ${somaxconn}: bursts of connections are cut`,
        `Set it to ${BACKLOG} or more: sysctl net.core.somaxconn=${BACKLOG}.`,
      );
}

export function judgeWorkerCount(workers: number, cpus: number): Finding {
  const found = `${workers} on ${cpus} CPU${cpus === 1 ? '' : 's'}`;
  return workers > cpus
    ? warnCheck(found, `Set workers to ${cpus}: more of them only wait for each other.`)
    : passCheck(found);
}

interface MemoryShare {
  readonly memoryBytes: number;
  readonly workers: number;
  /** The bytes of bodies that one worker may hold at a time. */
  readonly bodiesBytesMax: number;
}

export function judgeWorkerMemory({ memoryBytes, workers, bodiesBytesMax }: MemoryShare): Finding {
  const eachBytes = memoryBytes / workers;
  const neededBytes = WORKER_MEMORY_BYTES + bodiesBytesMax;
  const found = `${formatMebibytes(eachBytes)} of ${formatMebibytes(memoryBytes)} for each`;
  return eachBytes >= neededBytes
    ? passCheck(found)
    : warnCheck(
        found,
        `Run fewer workers, or give the machine more: with many large bodies one can need ${formatMebibytes(neededBytes)}.`,
      );
}

function formatMebibytes(bytes: number): string {
  return formatByteSize(Math.floor(bytes / MEBIBYTE) * MEBIBYTE);
}
