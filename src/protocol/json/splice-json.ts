/**
 * FAST TWIN of `JSON`.
 * Held equal by `test/fuzz/sent-requests.test.ts`.
 * Gain: 1,970 to 400 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import * as ascii from '../../lib/bytes/ascii.ts';
import type { JsonBody } from './parse-json-body.ts';
import type { JsonMember } from './scan-json.ts';

const { CLOSING_BRACE, COMMA } = ascii;

/** Whether a member goes on as it came. */
export type KeepMember = (name: string, fields: JsonBody['value']) => boolean;

interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The object of `added`, written members without their braces, and those of `body` that are kept, byte for byte.
 * `undefined` where a name stands twice or is written with an escape: which of them counts takes a parser.
 */
export function spliceJson(body: JsonBody, added: string, isKept: KeepMember): Buffer | undefined {
  return isUnambiguous(body) ? spliceMembers(body, added, isKept) : undefined;
}

/** The same for a body that went through `unifyNames`. */
export function spliceMembers(body: JsonBody, added: string, isKept: KeepMember): Buffer {
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

/** The same bytes with another value under one name; `undefined` as above, and where there is no such name. */
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

/** Neighbours that are kept go on in one piece, with the commas between them. */
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
