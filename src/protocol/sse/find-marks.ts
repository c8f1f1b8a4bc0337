/**
 * FAST TWIN of `src/protocol/json/scan-json.ts`.
 * Held equal by `test/unit/protocol/sse/find-marks.test.ts`.
 * Gain: 638 to 160 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

/**
 * The assembled `find-marks.wat`. A test assembles the source again and compares. The code looks at
 * 16 bytes at once and stops only if there is a mark among them.
 */
export const FIND_MARKS_WASM =
  'AGFzbQEAAAABCgJgAABgAn9/AX8DAwIAAQUDAQAFBgsCfwFBAAt/AUEACwcgAwZtZW1vcnkCAAdyZXN0YXJ0AAAJZmluZE1hcmtzAAEK0gECCgBBACQAQQAkAQvEAQIBewZ/QYACIQMjACEHIwEhCANAIAMgAEkEQCAD/QAEACECIAJBIv0P/SMgAkHcAP0P/SP9UCACQSD9D/0m/VD9ZCEEA0AgBARAIAMgBGhqIQUgBCAEQQFrcSEEIAUgCEYNASAFLQAAQdwARgRAIAVBAWotAAAtAAAhBiAHIAZqIQcgBUEBaiEIIAYNAgsgASAFNgIAIAEgBzYCBCABQQhqIQEMAQsLIANBEGohAwwBCwsgByQAQYACIAggA2tqJAEgAQsLNwgAQSILAQEAQS8LAQEAQdwACwEBAEHiAAsBAQBB5gALAQEAQe4ACwEBAEHyAAsBAQBB9AALAQE=';

const WINDOW_START = 256;
const WINDOW_BYTES = 32 * 1024;
/** The window ends with a whole block, and the code looks at one byte of the next block. */
const BLOCK_BYTES = 16;
const MARKS_START = WINDOW_START + WINDOW_BYTES + 2 * BLOCK_BYTES;
const MARK_BYTES = 8;
/**
 * If more than one byte in this many is a mark, parsing is faster than walking from mark to mark.
 */
const BYTES_PER_MARK_MIN = 3;
/** A byte that is never a mark. */
const PADDING = 0x20;

interface FinderExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  restart(): void;
  findMarks(end: number, marks: number): number;
}

interface Finder extends Omit<FinderExports, 'memory'> {
  readonly window: Uint8Array;
  readonly marks: Uint32Array;
  /** How many readers there have been. */
  readers: number;
}

let finder: Finder | 'none' | undefined;

/** A WebAssembly memory takes more than 8 GB of address space, which `ulimit -v` may not allow. */
export function canFindMarks(): boolean {
  finder ??= createFinder();
  return finder !== 'none';
}

/**
 * Walks through the marks that `find-marks.wat` finds. All readers share the memory of the module,
 * so a reader may be used only until the next one is made.
 */
export class MarkReader {
  /** The number of short escapes before the last mark. */
  shortEscapes = 0;
  /** Whether there are so many marks that parsing is faster than walking from mark to mark. */
  isDense = false;
  readonly #bytes: Uint8Array;
  readonly #finder: Finder;
  readonly #reader: number;
  #start = 0;
  #end = 0;
  #at = 0;
  #atMax = 0;
  #count = 0;

  constructor(bytes: Uint8Array) {
    finder ??= createFinder();
    if (finder === 'none') throw new Error('marks are only found where WebAssembly runs');
    finder.restart();
    this.#finder = finder;
    this.#reader = ++finder.readers;
    this.#bytes = bytes;
  }

  /** Returns the place of the next mark, or the length of the bytes if there is no mark left. */
  next(): number {
    while (this.#at === this.#atMax) {
      if (this.#reader !== this.#finder.readers) throw new Error('another reader is in use');
      if (this.#end === this.#bytes.length) return this.#end;
      this.#fill();
    }
    const { marks } = this.#finder;
    const place = marks[this.#at] ?? 0;
    this.shortEscapes = marks[this.#at + 1] ?? 0;
    this.#at += 2;
    return this.#start + place - WINDOW_START;
  }

  #fill(): void {
    const { window, findMarks } = this.#finder;
    const start = this.#end;
    const end = Math.min(start + WINDOW_BYTES, this.#bytes.length);
    window.set(this.#bytes.subarray(start, end + 1));
    window.fill(PADDING, this.#bytes.length - start);
    this.#start = start;
    this.#end = end;
    this.#at = 0;
    const marksEnd = findMarks(WINDOW_START + end - start, MARKS_START);
    const count = (marksEnd - MARKS_START) / MARK_BYTES;
    this.#atMax = count * 2;
    this.#count += count;
    this.isDense = this.#count * BYTES_PER_MARK_MIN > end;
  }
}

function createFinder(): Finder | 'none' {
  const module = new WebAssembly.Module(Buffer.from(FIND_MARKS_WASM, 'base64'));
  let exports: FinderExports;
  try {
    exports = new WebAssembly.Instance(module).exports as unknown as FinderExports;
  } catch {
    return 'none';
  }
  const { memory, restart, findMarks } = exports;
  return {
    restart,
    findMarks,
    window: new Uint8Array(memory.buffer, WINDOW_START, WINDOW_BYTES + BLOCK_BYTES),
    marks: new Uint32Array(memory.buffer, MARKS_START, WINDOW_BYTES * 2),
    readers: 0,
  };
}
