/** Wraps a value that must never be printed: strings, JSON and logs show a mask instead. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '*****';
  }

  toJSON(): string {
    return '*****';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '*****';
  }
}
