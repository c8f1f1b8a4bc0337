import { SPACE, TAB } from '../../lib/bytes/ascii.ts';

const TOKEN_CHARACTERS =
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** 1 for each byte that the name of a header may contain. */
export const IS_TOKEN = tabulate((byte) => TOKEN_CHARACTERS.includes(String.fromCharCode(byte)));

/** 1 for each byte that the value of a header may contain: no control character but the tab. */
export const IS_VALUE = tabulate((byte) => byte === TAB || (byte >= SPACE && byte !== 0x7f));

const NOT_HEX = -1;
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase());
  return digit === -1 ? NOT_HEX : digit;
});

/** The value of a hexadecimal digit, -1 for any other byte. */
export function hexValue(byte: number): number {
  return HEX_VALUES[byte] ?? NOT_HEX;
}

/** The value of a decimal digit; below 0 or above 9 for any other byte. */
export function digitValue(byte: number): number {
  return byte - 0x30;
}

function tabulate(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0));
}
