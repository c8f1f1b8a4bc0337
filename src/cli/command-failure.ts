/** Why a command could not be carried out, and what to do about it. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
