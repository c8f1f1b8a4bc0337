import type { ApiProblem } from '../api/api-problem.ts';

interface ProblemProps {
  readonly problem: ApiProblem | undefined;
  /** Offers to try again. */
  readonly onRetry?: () => void;
  /** Fields whose problems stand beside them already. */
  readonly shownFields?: readonly string[];
}

/** What went wrong, in the words of who refused; nothing when all is well. */
export function Problem({ problem, onRetry, shownFields = [] }: ProblemProps) {
  if (problem === undefined) return null;
  const fields = problem.fields.filter(
    ({ field }) => !shownFields.some((shown) => isPartOf(field, shown)),
  );
  const isAllShown = problem.fields.length > 0 && fields.length === 0;
  return (
    <div role="alert" class="problem">
      <p>{isAllShown ? 'Some fields are wrong: see beside them.' : `${problem.message}.`}</p>
      {problem.details.length > 0 && (
        <ul>
          {problem.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {problem.requestId !== undefined && (
        <p>
          Request <code>{problem.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The problem with one field, for its `error`. */
export function findFieldError(problem: ApiProblem | undefined, field: string): string | undefined {
  return problem?.fields.find((each) => isPartOf(each.field, field))?.message;
}

/** A list that is wrong is named with the place: `models.1`. */
function isPartOf(field: string, whole: string): boolean {
  return field === whole || field.startsWith(`${whole}.`);
}
