import type { ResponseProgress } from './response-progress.ts';

/** How events begin that most of a stream consists of. */
const DELTAS = {
  text: begin('response.output_text.delta'),
  thinking: begin('response.reasoning_summary_text.delta'),
  arguments: begin('response.function_call_arguments.delta'),
  customInput: begin('response.custom_tool_call_input.delta'),
  refusal: begin('response.refusal.delta'),
};

type DeltaKind = keyof typeof DELTAS;

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

  /** Most events differ in one text alone. `place` is what `placeDelta` makes of their fields. */
  writeDelta(kind: DeltaKind, place: string, said: string): string {
    return `${DELTAS[kind]}${this.#number()}${place}${JSON.stringify(said)}}\n\n`;
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

/** What stands between the number of a delta and its text. */
export function placeDelta(fields: string): string {
  return joinOnce([',', fields, ',"delta":']);
}

function begin(type: string): string {
  return joinOnce(['event: ', type, '\ndata: {"type":"', type, '","sequence_number":']);
}

/** Unlike `+`, this makes one piece of memory, which nobody has to put together again. */
function joinOnce(parts: readonly string[]): string {
  return parts.join('');
}
