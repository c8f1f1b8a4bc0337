/** The bytes that end lines, of HTTP, of event streams and of the protocol of Redis. */
export const LF = 0x0a;
export const CR = 0x0d;
