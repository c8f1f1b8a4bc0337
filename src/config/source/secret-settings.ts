import type { SettingPath } from '../setting-problem.ts';

/** Settings whose values are secrets or contain one. `*` stands for any step. */
export const SECRET_SETTINGS = [
  ['ops', 'admin_token'],
  ['ops', 'oidc', 'client_secret'],
  ['redis', 'url'],
  ['books', 'url'],
  ['books', 'archive', 's3', 'access_key'],
  ['books', 'archive', 's3', 'secret_key'],
  ['limits', 'end_users', 'secret'],
  ['reasoning_secrets', '*'],
  ['tracing', 'headers', '*'],
  ['webhooks', 'endpoints', '*', 'secrets', '*'],
  ['upstreams', '*', 'api_key'],
  ['upstreams', '*', 'headers', '*'],
];

export function isSecretSetting(path: SettingPath): boolean {
  return SECRET_SETTINGS.some(
    (pattern) =>
      pattern.length === path.length &&
      pattern.every((step, depth) => step === '*' || step === path[depth]),
  );
}
