import { isAscii } from 'node:buffer';
import * as ascii from '../../lib/bytes/ascii.ts';

const { CR } = ascii;

/** The server's reply if it does not do what it was asked. */
export class ErrorReply extends Error {
  override name = 'ReplyError';
}

export type Reply = string | number | null | ErrorReply | readonly Reply[];

const MINUS = 0x2d;
const ZERO = 0x30;
const NOTHING = Symbol();

/** Reads replies of version 2 of the protocol (RESP2), from bytes that may be split anywhere. */
export class ReplyReader {
  /** Begins with an incomplete reply, if there is one. Each byte is one character. */
  #text = '';
  #at = 0;
  #isAscii = true;

  /** Throws for bytes that are not a reply: nothing that follows can be read any more. */
  read(bytes: Buffer, take: (reply: Reply) => void): void {
    const text = bytes.toString('latin1');
    if (this.#text === '') this.#isAscii = true;
    this.#isAscii &&= isAscii(bytes);
    this.#text = this.#text === '' ? text : this.#text + text;
    this.#at = 0;
    let done = 0;
    for (let reply = this.#take(); reply !== NOTHING; reply = this.#take()) {
      done = this.#at;
      take(reply);
    }
    this.#text = done === this.#text.length ? '' : this.#text.slice(done);
  }

  #take(): Reply | typeof NOTHING {
    const lineEnd = this.#text.indexOf('\r\n', this.#at);
    if (lineEnd === -1) return NOTHING;
    const start = this.#at + 1;
    this.#at = lineEnd + 2;
    switch (this.#text[start - 1]) {
      case '$':
        return this.#takeText(this.#readNumber(start));
      case ':':
        return this.#readNumber(start);
      case '*':
        return this.#takeList(this.#readNumber(start));
      case '+':
        return this.#decode(this.#text.slice(start, lineEnd));
      case '-':
        return new ErrorReply(this.#decode(this.#text.slice(start, lineEnd)));
      default:
        throw new Error('not a reply');
    }
  }

  /** Reads from a line that has arrived completely. */
  #readNumber(start: number): number {
    const text = this.#text;
    const isNegative = text.charCodeAt(start) === MINUS;
    let number = 0;
    for (let at = isNegative ? start + 1 : start; ; at++) {
      const code = text.charCodeAt(at);
      if (code === CR) return isNegative ? -number : number;
      if (!(code >= ZERO && code <= ZERO + 9)) throw new Error('not a number in a reply');
      number = number * 10 + (code - ZERO);
    }
  }

  #takeText(length: number): string | null | typeof NOTHING {
    if (length < 0) return null;
    const start = this.#at;
    this.#at += length + 2;
    if (this.#at > this.#text.length) return NOTHING;
    return this.#decode(this.#text.slice(start, start + length));
  }

  #takeList(length: number): readonly Reply[] | null | typeof NOTHING {
    if (length < 0) return null;
    const list: Reply[] = [];
    for (let i = 0; i < length; i++) {
      const item = this.#take();
      if (item === NOTHING) return NOTHING;
      list.push(item);
    }
    return list;
  }

  #decode(text: string): string {
    return this.#isAscii ? text : Buffer.from(text, 'latin1').toString();
  }
}
