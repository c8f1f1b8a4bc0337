import type { ResponseProgress } from './response-progress.ts';

/** Writes the events of one stream. They are numbered without a gap. */
export class EventWriter {
  readonly #progress: ResponseProgress;

  constructor(progress: ResponseProgress) {
    this.#progress = progress;
  }

  /** `fields` is the rest of the event as JSON, without its braces. */
  write(type: string, fields: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number()},${fields}}\n\n`;
  }

  /** Takes fields that other fields always follow: most events differ in one text alone. */
  writeDelta(type: string, place: string, said: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number()},${place},"delta":${JSON.stringify(said)}}\n\n`;
  }

  writeBare(type: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number()}}\n\n`;
  }

  #number(): number {
    const number = this.#progress.nextNumber;
    this.#progress.nextNumber += 1;
    return number;
  }
}
