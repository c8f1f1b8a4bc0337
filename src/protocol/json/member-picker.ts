import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import * as ascii from '../../lib/bytes/ascii.ts';
import { JsonPlace } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, COMMA, OPENING_BRACE, QUOTE, SPACE } = ascii;

/** A bound for everything that is picked from one object. */
const PICKED_BYTES_MAX = 64 * 1024;
/** Nobody looks for a longer name. */
const NAME_BYTES_MAX = 32;

/** Finds some members of a JSON object that arrives in pieces, and keeps nothing else of it. */
export interface MemberPicker {
  add(piece: Uint8Array): void;
  /**
   * Returns the JSON of an object with only these members. If a name occurs twice, the later value
   * counts.
   */
  finish(): string;
  /** Whether all pieces together were one object that has ended, as far as its brackets show. */
  isWhole(): boolean;
  /** Whether the object has the member that was to be noted. */
  hasNoted(): boolean;
}

/** The member to be noted can be of any length. */
export function createMemberPicker(names: readonly string[], noted?: string): MemberPicker {
  return new Picker(names, noted);
}

class Picker implements MemberPicker {
  readonly #names: readonly string[];
  readonly #noted: string | undefined;
  #hasNoted = false;
  readonly #picked: string[] = [];
  #pickedBytes = 0;
  readonly #json = new JsonPlace();
  #hasBegun = false;
  #hasOtherText = false;
  /** `value` means after the colon of a member of the outermost object. */
  #place: 'name' | 'value' = 'name';
  #name: number[] = [];
  /** `undefined` while the picker reads a value that nobody wants. */
  #value: number[] | undefined;

  constructor(names: readonly string[], noted: string | undefined) {
    this.#names = names;
    this.#noted = noted;
  }

  add(piece: Uint8Array): void {
    const bytes = asBuffer(piece);
    for (let at = 0; at < bytes.length; at++) {
      const { depth, isInString } = this.#json;
      const isName = depth === 1 && this.#place === 'name';
      if (isInString && !isName && this.#value === undefined) {
        at = this.#json.passString(bytes, at);
        continue;
      }
      const byte = bytes[at] ?? 0;
      this.#json.pass(byte);
      if (depth === 0 && byte > SPACE) this.#addAround(byte);
      if (!isInString) this.#addOutside(byte, depth === 1);
      else if (isName) this.#addToName(byte);
      else this.#keep(byte);
    }
  }

  finish(): string {
    return `{${this.#picked.join()}}`;
  }

  isWhole(): boolean {
    const { depth, isInString } = this.#json;
    return this.#hasBegun && !this.#hasOtherText && depth === 0 && !isInString;
  }

  hasNoted(): boolean {
    return this.#hasNoted;
  }

  #addAround(byte: number): void {
    if (this.#hasBegun || byte !== OPENING_BRACE) this.#hasOtherText = true;
    this.#hasBegun = true;
  }

  #addOutside(byte: number, isOutermost: boolean): void {
    if (!isOutermost) this.#keep(byte);
    else if (byte === COLON) this.#beginValue();
    else if (byte === COMMA || byte === CLOSING_BRACE || byte === CLOSING_BRACKET)
      this.#endMember();
    else {
      if (byte === QUOTE && this.#place === 'name') this.#name = [];
      this.#keep(byte);
    }
  }

  #addToName(byte: number): void {
    if (this.#json.isInString && this.#name.length <= NAME_BYTES_MAX) this.#name.push(byte);
  }

  #beginValue(): void {
    this.#place = 'value';
    const name = String.fromCharCode(...this.#name);
    this.#hasNoted ||= name === this.#noted;
    this.#value = this.#names.includes(name) ? [] : undefined;
  }

  #keep(byte: number): void {
    if (this.#value === undefined) return;
    this.#pickedBytes += 1;
    if (this.#pickedBytes > PICKED_BYTES_MAX) this.#value = undefined;
    else this.#value.push(byte);
  }

  #endMember(): void {
    this.#place = 'name';
    if (this.#value === undefined) return;
    const name = String.fromCharCode(...this.#name);
    const value = new TextDecoder().decode(Uint8Array.from(this.#value));
    this.#picked.push(`"${name}":${value}`);
    this.#value = undefined;
  }
}
