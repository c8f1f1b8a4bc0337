import type { ProblemBody } from './api-types.ts';

interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

interface ProblemFacts {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly fields?: readonly FieldProblem[] | undefined;
  /** Further messages, such as each problem of new settings. */
  readonly details?: readonly string[] | undefined;
  readonly requestId?: string | undefined;
}

/** Anything that an API refused or could not do, in words to show. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldProblem[];
  readonly details: readonly string[];
  readonly requestId: string | undefined;

  constructor(message: string, facts: ProblemFacts, options?: ErrorOptions) {
    super(message, options);
    this.status = facts.status;
    this.code = facts.code;
    this.fields = facts.fields ?? [];
    this.details = facts.details ?? [];
    this.requestId = facts.requestId;
  }
}

export async function readProblem(response: Response): Promise<ApiProblem> {
  const { status } = response;
  const requestId = response.headers.get('request-id') ?? undefined;
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as ProblemBody;
    const { code, message, fields, problems: details } = error;
    return new ApiProblem(message, { status, code, fields, details, requestId });
  } catch {
    const code = 'unreadable_answer';
    return new ApiProblem(`the answer was ${status}, without a reason`, {
      status,
      code,
      requestId,
    });
  }
}

/**
 * Turns whatever was thrown into a problem. Anything but a refusal means that no complete answer
 * came.
 */
export function toProblem(cause: unknown): ApiProblem {
  if (cause instanceof ApiProblem) return cause;
  const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError';
  return isTimeout
    ? new ApiProblem('the node did not answer in time', { status: 0, code: 'timeout' }, { cause })
    : new ApiProblem('the node cannot be reached', { status: 0, code: 'unreachable' }, { cause });
}
