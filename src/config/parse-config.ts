import { buildConfig } from './build-config.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { deepFreeze } from './deep-freeze.ts';
import { findConflicts } from './schema/find-conflicts.ts';
import { problemsOfIssue } from './schema/problems-of-issue.ts';
import { settingsSchema } from './schema/schema.ts';
import { formatPath, isSamePath, type SettingProblem } from './setting-problem.ts';
import { overrideSettings } from './source/environment-overrides.ts';
import type { ConfigSource } from './source/read-config-source.ts';
import { readSettingsText, type SettingsText } from './source/read-settings-text.ts';

/**
 * Returns the effective settings, deeply frozen, or throws a ConfigError that names every problem.
 */
export function parseConfig(source: ConfigSource): Config {
  const file = readSettingsText(source.text, source.env);
  const { settings, variableOf } = overrideSettings(file.value, source.env);
  const parsed = settingsSchema.safeParse(settings ?? {});
  const found = [
    ...(parsed.error?.issues ?? []).flatMap(problemsOfIssue),
    // A reference may point into the part of the file that could not be read.
    ...(isBroken(file) ? [] : findConflicts(settings)),
  ];
  const ofVariables: string[] = [];
  const ofFile = [...file.problems];
  for (const problem of found) {
    const variable = variableOf(problem.path);
    if (variable !== undefined) ofVariables.push(`${variable}: ${problem.message}`);
    else if (!isConsequence(problem, file)) {
      ofFile.push({ ...problem, line: file.lineOf(problem.path) });
    }
  }
  if (parsed.success && ofFile.length + ofVariables.length === 0) {
    return deepFreeze(buildConfig(parsed.data));
  }
  const lines = ofFile
    .toSorted((one, other) => one.line - other.line)
    .map(({ path, line, message }) =>
      [...placeOf(source, line), ...(path.length === 0 ? [] : [formatPath(path)]), message].join(
        ': ',
      ),
    );
  throw new ConfigError([...new Set([...lines, ...ofVariables])]);
}

/** Whether the problem may exist only because that part of the text could not be read. */
function isConsequence({ path }: SettingProblem, file: SettingsText): boolean {
  if (file.problems.some((problem) => isSamePath(problem.path, path))) return true;
  return file.lineOf(path) >= file.brokenLine || (isBroken(file) && !file.isWritten(path));
}

function isBroken(file: SettingsText): boolean {
  return file.brokenLine !== Number.POSITIVE_INFINITY;
}

function placeOf(source: ConfigSource, line: number): string[] {
  if (source.text === '') return [];
  return [`${source.path ?? 'settings'}:${line}`];
}
