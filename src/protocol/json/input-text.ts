import type { ToolUseBlock } from '../inference.ts';

type Input = ToolUseBlock['input'];

/** No JSON has such a name: no client can send it, and no upstream gets it by chance. */
const text = Symbol('text');

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
