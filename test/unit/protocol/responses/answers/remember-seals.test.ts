import { expect, it } from 'vitest';
import { rememberSeals } from '../../../../../src/protocol/responses/answers/remember-seals.ts';

it('seals each thought once, even if its upstream gives all of them the same id', () => {
  let seals = 0;
  const seal = rememberSeals(() => {
    seals += 1;
    return `tg1.${seals}`;
  });
  const tell = (encrypted: string) => seal?.({ type: 'reasoning', id: 'rs_vendor', encrypted });
  expect(['one', 'other', 'one', 'other'].map(tell)).toEqual(['tg1.1', 'tg1.2', 'tg1.1', 'tg1.2']);
});
