/** Embedded mode cannot start; the message says why and what an operator can do about it. */
export class EmbeddedStartError extends Error {
  override readonly name = 'EmbeddedStartError';
}
