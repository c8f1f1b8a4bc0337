import type { ToolUseBlock } from '../inference.ts';

type Input = ToolUseBlock['input'];

/** No JSON has such names: no client can send them, and no upstream gets them by chance. */
const text = Symbol('text');
const broken = Symbol('broken');

/** A number may be an id that a JavaScript number cannot hold. */
const LONG_NUMBER = /\d{16}/;

/**
 * Keeps the text of a tool's input with it, unseen, if reading may have changed a number in it. The
 * input is what has just been read from the text.
 */
export function keepInputText(input: Input, json: string): Input {
  if (LONG_NUMBER.test(json)) Object.defineProperty(input, text, { value: json });
  return input;
}

/** Returns the text of a tool's input, if it was kept. */
export function findInputText(input: Input): string | undefined {
  return (input as { readonly [text]?: string })[text];
}

/** Writes a tool's input as JSON that says the same numbers as the text that it came in. */
export function writeInput(input: Input): string {
  return findInputText(input) ?? JSON.stringify(input);
}

/** The native format takes only objects: anything else is put into one, as it was written. */
export function wrapInput(json: string): Input {
  return Object.defineProperty({ _raw: json }, broken, { value: json });
}

export function isWrapped(input: Input): boolean {
  return Object.hasOwn(input, broken);
}

/** Writes a tool's input as the model wrote it, for clients that read its text themselves. */
export function writeArguments(input: Input): string {
  return (input as { readonly [broken]?: string })[broken] ?? writeInput(input);
}
