import { isObject } from '../../protocol/schema.ts';
import type { RawFields } from '../schema/fields.ts';
import type { SettingPath } from '../setting-problem.ts';

interface Override {
  readonly variable: string;
  readonly path: readonly string[];
  readonly separator?: string;
}

/** The variables that win over the file, and the setting that each of them sets. */
export const ENVIRONMENT_OVERRIDES: readonly Override[] = [
  { variable: 'TOLLGATE_LISTEN', path: ['listen'] },
  { variable: 'TOLLGATE_OPS_LISTEN', path: ['ops', 'listen'] },
  { variable: 'TOLLGATE_ADMIN_TOKEN', path: ['ops', 'admin_token'] },
  { variable: 'TOLLGATE_WORKERS', path: ['workers'] },
  { variable: 'TOLLGATE_REDIS_URL', path: ['redis', 'url'] },
  { variable: 'TOLLGATE_BOOKS_URL', path: ['books', 'url'] },
  { variable: 'TOLLGATE_DATA_DIR', path: ['data_dir'] },
  { variable: 'TOLLGATE_LOG_LEVEL', path: ['log_level'] },
  { variable: 'TOLLGATE_UWS_SHA256', path: ['uws_sha256'], separator: ',' },
];

interface SettingOverrides {
  readonly settings: unknown;
  /** The variable that a setting, or the list around it, was taken from. */
  variableOf(path: SettingPath): string | undefined;
}

/** Puts the variables in place of the file's settings. An empty variable counts as absent. */
export function overrideSettings(
  fileSettings: unknown,
  env: Readonly<Record<string, string>>,
): SettingOverrides {
  const given = ENVIRONMENT_OVERRIDES.filter(({ variable }) => (env[variable] ?? '') !== '');
  let settings = fileSettings;
  for (const { variable, path, separator } of given) {
    const text = env[variable] ?? '';
    const value = separator === undefined ? text : text.split(separator).map((item) => item.trim());
    settings = withSetting(settings, path, value);
  }
  return {
    settings,
    variableOf: (path) =>
      given.find((override) => override.path.every((key, depth) => path[depth] === key))?.variable,
  };
}

/** If the file has something else where a map belongs, that value stays, so that it is reported. */
function withSetting(settings: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (settings !== undefined && !isObject(settings)) return settings;
  const fields: RawFields = settings ?? {};
  return { ...fields, [key]: withSetting(fields[key], rest, value) };
}
