/**
 * Bytes that HTTP, event streams, JSON and the protocol of Redis are built of. They are character
 * codes too. Loops over bytes copy them into constants of their own file: the engine reads an
 * imported constant each time, which makes a scan take half as long again.
 */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const DIGIT_ZERO = 0x30;
export const DIGIT_NINE = 0x39;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const LETTER_U = 0x75;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;
export const DELETE = 0x7f;
