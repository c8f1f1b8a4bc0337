/**
 * FAST TWIN of `JSON`.
 * Held equal by `test/fuzz/sent-requests.test.ts`.
 * Gain: 1,970 to 400 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import * as ascii from '../../lib/bytes/ascii.ts';
import type { JsonBody } from './parse-json-body.ts';
import type { JsonMember } from './scan-json.ts';

const { CLOSING_BRACE, COMMA } = ascii;

/** Up to this size, one copy is cheaper than several pieces. */
const COPIED_BYTES_MAX = 16 * 1024;
const COMMA_PIECE = Uint8Array.of(COMMA);
const END_PIECE = Uint8Array.of(CLOSING_BRACE);

/** Whether a member is sent on as it came. */
export type KeepMember = (name: string, fields: JsonBody['value']) => boolean;

interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * Joins the members in `added`, written as JSON without braces, with the members of `body` that are
 * kept byte for byte. Returns `undefined` if a name occurs twice or is written with an escape: only
 * a parser can tell which member counts.
 */
export function spliceJson(body: JsonBody, added: string, isKept: KeepMember): Buffer | undefined {
  return isUnambiguous(body) ? joinMembers(body, added, isKept) : undefined;
}

/**
 * Does the same for a body that went through `unifyNames`. What is kept of a large body is not
 * copied: the pieces, one after the other, are views of it.
 */
export function spliceMembers(
  body: JsonBody,
  added: string,
  isKept: KeepMember,
): readonly Uint8Array[] {
  const { bytes } = body;
  if (bytes.length <= COPIED_BYTES_MAX) return [joinMembers(body, added, isKept)];
  const pieces: Uint8Array[] = [Buffer.from(`{${added}`)];
  for (const { start, end } of findRuns(body, isKept)) {
    pieces.push(COMMA_PIECE, bytes.subarray(start, end));
  }
  pieces.push(END_PIECE);
  return pieces;
}

function joinMembers(body: JsonBody, added: string, isKept: KeepMember): Buffer {
  const { bytes } = body;
  const runs = findRuns(body, isKept);
  const head = `{${added}`;
  let length = Buffer.byteLength(head) + 1;
  for (const { start, end } of runs) length += 1 + end - start;
  const spliced = Buffer.allocUnsafe(length);
  let at = spliced.write(head);
  for (const { start, end } of runs) {
    spliced[at] = COMMA;
    at += 1 + bytes.copy(spliced, at + 1, start, end);
  }
  spliced[at] = CLOSING_BRACE;
  return spliced;
}

/**
 * Returns the same bytes with another text under one name. Returns `undefined` in the same cases as
 * `spliceJson`, and if no member has the name.
 */
export function replaceText(body: JsonBody, name: string, text: string): Buffer | undefined {
  const member = body.members.find((other) => other.name === name);
  if (member === undefined || !isUnambiguous(body)) return undefined;
  const { bytes, value } = body;
  if (value[name] === text) return bytes;
  const json = JSON.stringify(text);
  const { valueStart, end } = member;
  const replaced = Buffer.allocUnsafe(valueStart + Buffer.byteLength(json) + bytes.length - end);
  bytes.copy(replaced, 0, 0, valueStart);
  const at = valueStart + replaced.write(json, valueStart);
  bytes.copy(replaced, at, end);
  return replaced;
}

function isUnambiguous({ value, members, hasPlainNames }: JsonBody): boolean {
  return hasPlainNames && Object.keys(value).length === members.length;
}

/** Joins adjacent members that are kept into one run, with the commas between them. */
function findRuns({ value, members }: JsonBody, isKept: KeepMember): Run[] {
  const runs: Run[] = [];
  let first: JsonMember | undefined;
  let last: JsonMember | undefined;
  for (const member of members) {
    if (isKept(member.name, value)) {
      first ??= member;
      last = member;
    } else if (first !== undefined && last !== undefined) {
      runs.push({ start: first.start, end: last.end });
      first = undefined;
    }
  }
  if (first !== undefined && last !== undefined) runs.push({ start: first.start, end: last.end });
  return runs;
}
