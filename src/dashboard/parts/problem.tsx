import type { ApiProblem } from '../api/api-problem.ts';

interface ProblemProps {
  readonly problem: ApiProblem | undefined;
  /** If given, a button offers to try again. */
  readonly onRetry?: () => void;
  /** Fields whose problems are already shown beside them. */
  readonly shownFields?: readonly string[];
}

/** Shows what went wrong, in the words of the refusal; nothing if there is no problem. */
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

/** Returns the problem with one field, for the field's `error`. */
export function findFieldError(problem: ApiProblem | undefined, field: string): string | undefined {
  return problem?.fields.find((each) => isPartOf(each.field, field))?.message;
}

/** A problem inside a list names the place: `models.1`. */
function isPartOf(field: string, whole: string): boolean {
  return field === whole || field.startsWith(`${whole}.`);
}
