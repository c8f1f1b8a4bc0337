/** Why a command failed, and what to do about it. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure';
}

/** A node's reason for refusing a request. */
export interface RefusalBody {
  readonly code: string;
  readonly message: string;
  readonly problems?: readonly string[];
  readonly needs_restart?: readonly string[];
}

/** The node was reached, and refused. */
export class NodeRefusal extends CommandFailure {
  override readonly name = 'NodeRefusal';
  readonly told: RefusalBody;

  constructor(told: RefusalBody) {
    super([told.message, ...(told.problems ?? [])].join('\n'));
    this.told = told;
  }
}

/** Whether what was asked for has certainly not taken place. */
export function isRefused(error: unknown): boolean {
  return error instanceof NodeRefusal && error.told.code !== 'store_unavailable';
}
