import { Refusal } from '../protocol/refusals.ts';

/** A request without a content type is read as JSON. */
export function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return;
  if (/^application\/(json|[\w.-]+\+json)\b/i.test(contentType)) return;
  throw new Refusal('not_json', 'content-type: must be application/json');
}
