const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Of what is picked from one object, all together. */
const PICKED_BYTES_MAX = 64 * 1024;
/** Longer names are none that anybody looks for. */
const NAME_BYTES_MAX = 32;

/** Finds some members of a JSON object that comes in pieces, and keeps nothing else of it. */
export interface MemberPicker {
  add(piece: Uint8Array): void;
  /** The JSON of an object that has only these; where a name stands twice, the later one counts. */
  finish(): string;
}

export function createMemberPicker(names: readonly string[]): MemberPicker {
  return new Picker(names);
}

class Picker implements MemberPicker {
  readonly #names: readonly string[];
  readonly #picked: string[] = [];
  #pickedBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** `value`: behind the colon of a member of the outermost object. */
  #place: 'name' | 'value' = 'name';
  #name: number[] = [];
  /** `undefined` while what comes is nothing to be picked. */
  #value: number[] | undefined;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  add(piece: Uint8Array): void {
    for (const byte of piece) {
      if (this.#isInString) this.#addInString(byte);
      else this.#addOutside(byte);
    }
  }

  finish(): string {
    return `{${this.#picked.join()}}`;
  }

  #addInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
    if (this.#depth === 1 && this.#place === 'name') this.#addToName(byte);
    else this.#keep(byte);
  }

  #addOutside(byte: number): void {
    const isOutermost = this.#depth === 1;
    if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      if (isOutermost) this.#endMember();
      this.#depth -= 1;
    } else if (isOutermost && byte === COMMA) {
      this.#endMember();
      return;
    } else if (isOutermost && byte === COLON) {
      this.#beginValue();
      return;
    } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#depth += 1;
    else if (byte === QUOTE) {
      this.#isInString = true;
      if (isOutermost && this.#place === 'name') this.#name = [];
    }
    this.#keep(byte);
  }

  #addToName(byte: number): void {
    if (this.#isInString && this.#name.length <= NAME_BYTES_MAX) this.#name.push(byte);
  }

  #beginValue(): void {
    this.#place = 'value';
    const isWanted = this.#names.includes(String.fromCharCode(...this.#name));
    this.#value = isWanted ? [] : undefined;
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
