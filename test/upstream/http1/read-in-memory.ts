import { AssertionError } from 'node:assert';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Client, errors } from 'undici';
import {
  type AnswerStep,
  HttpAnswerReader,
} from '../../../src/upstream/http1/http-answer-reader.ts';

/** How one client understands what a server sent before it closed the connection. */
export interface Reading {
  /** Undefined if there is no valid head. */
  readonly status: number | undefined;
  /** The values of the requested headers. */
  readonly values: readonly (string | undefined)[];
  readonly body: string;
  readonly isComplete: boolean;
}

export interface ReaderReading extends Reading {
  /** Whether bytes follow the end. */
  readonly isFollowed: boolean;
}

export interface Question {
  readonly method: 'GET' | 'HEAD';
  readonly names: readonly string[];
}

const STEPS_PER_BYTE_MAX = 2;

/** Throws if the reader moves outside of the bytes or does not come to an end. */
export function readWithReader(pieces: readonly Buffer[], question: Question): ReaderReading {
  const reader = new HttpAnswerReader();
  reader.restart(question.method);
  const reading = { status: undefined, values: [], body: '', isComplete: false };
  for (const [i, piece] of pieces.entries()) {
    const last = readPiece(reader, piece, reading, question.names);
    const isFollowed = reader.position < piece.length || pieces.slice(i + 1).some(hasBytes);
    if (last !== 'more') return { ...reading, isComplete: last === 'end', isFollowed };
  }
  return { ...reading, isComplete: reader.isCompleteAtClose(), isFollowed: false };
}

function hasBytes(piece: Buffer): boolean {
  return piece.length > 0;
}

function readPiece(
  reader: HttpAnswerReader,
  piece: Buffer,
  reading: { -readonly [Key in keyof Reading]: Reading[Key] },
  names: readonly string[],
): AnswerStep {
  let at = 0;
  for (let steps = 0; steps < STEPS_PER_BYTE_MAX * piece.length + 3; steps++) {
    const step = reader.read(piece, at);
    if (reader.position < at || reader.position > piece.length) throw new Error('left the bytes');
    at = reader.position;
    if (step === 'head') {
      reading.status = reader.head.status;
      reading.values = names.map((name) => reader.head.headers.get(name));
    } else if (step === 'data') {
      if (reader.data.length === 0) throw new Error('data without a byte');
      reading.body += Buffer.from(reader.data).toString('latin1');
    } else {
      if (step === 'more' && at !== piece.length) throw new Error('wants more than it has read');
      return step;
    }
  }
  throw new Error('does not come to an end');
}

/** Reads the same bytes with undici, over a connection that exists only in memory. */
export async function readWithUndici(
  bytes: Uint8Array,
  { method, names }: Question,
): Promise<Reading> {
  const client = new Client('http://memory', {
    connect: (_, callback) => queueMicrotask(() => callback(null, createMemorySocket(bytes))),
  });
  let status: number | undefined;
  let values: readonly (string | undefined)[] = [];
  try {
    const answer = await client.request({ method, path: '/' });
    status = answer.statusCode;
    // undici keeps the whitespace after a value.
    values = names.map((name) => [answer.headers[name]].flat()[0]?.replace(/[ \t]+$/, ''));
    const body = Buffer.from(await answer.body.arrayBuffer()).toString('latin1');
    return { status, values, body, isComplete: true };
  } catch (error) {
    const isExpected =
      error instanceof errors.UndiciError ||
      error instanceof errors.HTTPParserError ||
      error instanceof AssertionError;
    if (!isExpected) throw error;
    return { status, values, body: '', isComplete: false };
  } finally {
    await client.destroy();
  }
}

/** Answers the first write with these bytes and their end. */
function createMemorySocket(bytes: Uint8Array): Socket {
  let isAsked = false;
  const stream = new Duplex({
    read() {},
    write(_, __, done) {
      done();
      if (isAsked) return;
      isAsked = true;
      stream.push(bytes);
      // As over a network, the bytes are read before the end is seen.
      setImmediate(() => stream.push(null));
    },
  });
  return Object.assign(stream, {
    ref: () => stream,
    unref: () => stream,
    setTimeout: () => stream,
  }) as unknown as Socket;
}
