export type SettingPath = readonly PropertyKey[];

export interface SettingProblem {
  readonly path: SettingPath;
  /**
   * Never contains a value of the settings except names: any value may be a secret in the wrong
   * place.
   */
  readonly message: string;
}

/**
 * Formats a path such as `models[0].routes[1].upstream`. Cuts a key where it stops looking like
 * one, since `admin_token:secret` may hold a secret.
 */
export function formatPath(path: SettingPath): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const key = String(step);
    const head = /^[\w.-]*/.exec(key)?.[0] ?? '';
    return head === key ? `.${key}` : `.${head}…`;
  });
  return steps.join('').replace(/^\./, '');
}

export function isSamePath(one: SettingPath, other: SettingPath): boolean {
  return one.length === other.length && one.every((step, depth) => step === other[depth]);
}
