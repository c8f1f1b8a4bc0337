import { Refusal } from '../../refusals.ts';
import type { SchemaProblem } from '../../schema.ts';

/** Reports a faulty field in the style that clients of the chat format know. */
export function refuseField({ path, kind, message }: SchemaProblem): Refusal {
  if (path === '') {
    return new Refusal('invalid_request', `Invalid value for the request body: ${message}.`);
  }
  const param = path.replace(/\.(\d+)/g, '[$1]');
  return kind === 'missing'
    ? new Refusal('missing_field', `Missing required parameter: '${param}'.`, { param })
    : new Refusal('invalid_request', `Invalid value for '${param}': ${message}.`, { param });
}
