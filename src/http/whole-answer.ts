import { type CompleteHead, measureCork, writeAnswerHead } from './answer-head.ts';
import { CORK_BYTES_MAX } from './http-limits.ts';
import type { UwsResponse } from './load-uws.ts';

/** Writes an answer that fits in one cork; `closes` ends the connection after it. */
export function writeWhole(
  res: UwsResponse,
  head: CompleteHead,
  body: Uint8Array,
  closes: boolean,
): void {
  writeAnswerHead(res, head, false);
  res.end(body, closes);
}

/** The answer to HEAD. Without a body, because every build sends the body that it is given. */
export function writeHeadOnly(
  res: UwsResponse,
  head: CompleteHead,
  body: Uint8Array,
  closes: boolean,
): void {
  writeAnswerHead(res, head, closes);
  res.writeHeader('content-length', String(body.length));
  res.endWithoutBody();
}

/** Writes the head, and as much of the body as fits beside it. */
export function writeBeginning(
  res: UwsResponse,
  head: CompleteHead,
  body: Uint8Array,
  closes: boolean,
): { readonly accepted: boolean; readonly done: boolean } {
  const room = measureCork(head, body.length);
  let accepted = false;
  let done = false;
  res.cork(() => {
    writeAnswerHead(res, head, closes);
    const first = body.length <= room ? body : body.subarray(0, room);
    [accepted, done] = res.tryEnd(first, body.length);
  });
  return { accepted, done };
}

/** Writes the body from the offset on. Returns whether the socket took all of it. */
export function writeRest(res: UwsResponse, body: Uint8Array, offset: number): boolean {
  for (let at = offset; ; at = res.getWriteOffset()) {
    let accepted = false;
    let done = false;
    res.cork(() => {
      const slice = body.subarray(at, at + CORK_BYTES_MAX);
      [accepted, done] = res.tryEnd(slice, body.length);
    });
    if (done || !accepted) return done;
  }
}
