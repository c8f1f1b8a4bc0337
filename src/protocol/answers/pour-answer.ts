import type { Answer, TakePart } from '../inference.ts';

/** All parts behind the first one, from answers that can pour and from those that have to be asked. */
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
