import type { ResponseProgress } from './response-progress.ts';

/** How an event begins, by its type. */
const beginnings = new Map<string, string>();

/** Writes the events of one stream. They are numbered without a gap. */
export class EventWriter {
  readonly #progress: ResponseProgress;

  constructor(progress: ResponseProgress) {
    this.#progress = progress;
  }

  /** `fields` is the rest of the event as JSON, without its braces. */
  write(type: string, fields: string): string {
    return `${begin(type)}${this.#number()},${fields}}\n\n`;
  }

  /** Most events differ in one text alone. `place` is what `placeDelta` makes of their fields. */
  writeDelta(type: string, place: string, said: string): string {
    return `${begin(type)}${this.#number()}${place}${JSON.stringify(said)}}\n\n`;
  }

  writeBare(type: string): string {
    return `${begin(type)}${this.#number()}}\n\n`;
  }

  #number(): number {
    const number = this.#progress.nextNumber;
    this.#progress.nextNumber += 1;
    return number;
  }
}

/** Fields that precede the text of each delta. */
export function placeDelta(fields: string): string {
  return joinOnce([',', fields, ',"delta":']);
}

function begin(type: string): string {
  const known = beginnings.get(type);
  if (known !== undefined) return known;
  const begun = joinOnce(['event: ', type, '\ndata: {"type":"', type, '","sequence_number":']);
  beginnings.set(type, begun);
  return begun;
}

/** Unlike `+`, this makes one piece of memory, which all that use the text need not put together. */
function joinOnce(parts: readonly string[]): string {
  return parts.join('');
}
