import { refuseKind } from '../../fields/refuse-kind.ts';
import type { RequestOutline } from '../../inference.ts';

/**
 * For a request of a format in which every document is a PDF. Throws a `Refusal`.
 */
export function refusePdfs({ messages }: RequestOutline): void {
  for (const [i, { content }] of messages.entries()) {
    if (typeof content === 'string' || !content.some(({ type }) => type === 'document')) continue;
    throw refuseKind(`messages.${i}`, 'PDFs');
  }
}
