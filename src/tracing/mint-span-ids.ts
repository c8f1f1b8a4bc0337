import { randomBytes } from 'node:crypto';

const POOL_BYTES = 4_096;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

let pool = Buffer.alloc(0);
let poolOffset = 0;

export const mintTraceId = () => takeHex(TRACE_ID_BYTES);
export const mintSpanId = () => takeHex(SPAN_ID_BYTES);

/** From a pool, since a few random bytes cost as much as many. */
function takeHex(bytes: number): string {
  if (poolOffset + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    poolOffset = 0;
  }
  const from = poolOffset;
  poolOffset += bytes;
  return pool.toString('hex', from, poolOffset);
}
