import { text } from '../schema.ts';

/**
 * V8 hashes a string of more than 16,383 characters by its length alone, so maps and sets of such
 * strings are slow. This leaves room for a number after an id. Some gateways put the signature of
 * a thought into the id of a call, so the bound is not lower.
 */
export const ID_CHARS_MAX = 16_000;

export const callId = text({ charsMin: 1, charsMax: ID_CHARS_MAX });
/** The name of a tool in an earlier call need not be one that is offered now. */
export const calledName = text({ charsMin: 1, charsMax: ID_CHARS_MAX });

/** A refusal repeats the name of a model that is not there. */
export const modelName = text({ charsMin: 1, charsMax: 256 });
