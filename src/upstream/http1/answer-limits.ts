/** Status line and headers together, for each head of an answer. */
export const HEAD_BYTES_MAX = 64 * 1024;
export const HEADERS_MAX = 256;
/** Heads of the 1xx family before the real one. */
export const INFORMATIONAL_HEADS_MAX = 32;
export const TRAILER_BYTES_MAX = 8 * 1024;
/**
 * Hexadecimal digits of a chunk's size, leading zeros included: far beyond any answer, far below
 * 2^53.
 */
export const CHUNK_SIZE_DIGITS_MAX = 12;
/** For each chunk. Extensions are ignored, but they must not be endless. */
export const CHUNK_EXTENSION_BYTES_MAX = 256;
/** Decimal digits of a content-length: a double holds every such number exactly. */
export const CONTENT_LENGTH_DIGITS_MAX = 15;
