import { Refusal } from '../../protocol/refusals.ts';

export function refuseMethod(method: string, path: string, allowed: readonly string[]): Refusal {
  const list = allowed.join(', ');
  return new Refusal('method_not_allowed', `${path} does not take ${method}, only ${list}.`, {
    headers: { allow: list },
  });
}
