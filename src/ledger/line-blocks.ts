const BLOCK_BYTES = 256 * 1024;
/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;
const LF = 0x0a;

/** Lines one behind the other, outside of the heap: what stands there for long costs its collection nothing. */
export interface LineBlocks {
  readonly bytes: number;
  add(line: string): void;
  /** All lines with their ends, in pieces of any length. */
  filled(): readonly Buffer[];
}

export function createLineBlocks(): LineBlocks {
  const full: Buffer[] = [];
  let block = Buffer.alloc(0);
  let at = 0;
  let fullBytes = 0;
  return {
    get bytes() {
      return fullBytes + at;
    },
    add(line) {
      const roomBytes = UNIT_BYTES_MAX * line.length + 1;
      if (at + roomBytes > block.length) {
        if (at > 0) full.push(block.subarray(0, at));
        fullBytes += at;
        block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, roomBytes));
        at = 0;
      }
      at += block.write(line, at);
      block[at++] = LF;
    },
    filled: () => (at > 0 ? [...full, block.subarray(0, at)] : full),
  };
}
