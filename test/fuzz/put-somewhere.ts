/** Puts `value` somewhere into `target`. `undefined` removes a member. */
export function putSomewhere(target: unknown, steps: readonly number[], value: unknown): void {
  const [step = 0, ...further] = steps;
  if (typeof target !== 'object' || target === null) return;
  const keys = Object.keys(target);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return;
  const child: unknown = Reflect.get(target, key);
  if (further.length > 0 && typeof child === 'object' && child !== null) {
    putSomewhere(child, further, value);
  } else if (value === undefined && !Array.isArray(target)) {
    Reflect.deleteProperty(target, key);
  } else {
    Reflect.set(target, key, value ?? null);
  }
}
