import type { Answer, TakePart } from '../inference.ts';

/**
 * Hands over all parts after the first one. Works both for answers that pour and for answers whose
 * parts have to be asked for.
 */
export async function pourAnswer(answer: Answer, take: TakePart): Promise<boolean> {
  if (answer.pour !== undefined) return answer.pour(take);
  for (;;) {
    const { done, value } = await answer.next();
    if (done === true) return true;
    const wantsMore = take(value);
    const isMoreWanted = typeof wantsMore === 'boolean' ? wantsMore : await wantsMore;
    if (value.isLast === true) return true;
    if (!isMoreWanted) return false;
  }
}
