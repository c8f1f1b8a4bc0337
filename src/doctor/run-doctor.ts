import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseConfig } from '../config/parse-config.ts';
import { readConfigSource } from '../config/source/read-config-source.ts';
import type { Clock } from '../lib/time/clock.ts';
import { checkBooks } from './books/check-books.ts';
import { CHECKS, type CheckName } from './checks.ts';
import { type Finding, failCheck, passCheck, skipCheck } from './finding.ts';
import { checkNativeBuild, judgeNodeVersion } from './machine/check-build.ts';
import { createMachineChecks } from './machine/machine-checks.ts';
import { type Check, type CheckResult, runCheck } from './run-check.ts';
import { checkStore } from './store/check-store.ts';
import { createUpstreamChecks } from './upstream/upstream-checks.ts';

const NAMES = Object.keys(CHECKS) as CheckName[];

interface DoctorOptions {
  readonly configPath: string | undefined;
  readonly clock: Clock;
}

/**
 * Runs all checks at once, with or without a running node. Returns the results in the order of the
 * catalogue.
 */
export async function runDoctor({ configPath, clock }: DoctorOptions): Promise<CheckResult[]> {
  const settings = readSettings(configPath);
  const { config } = settings;
  const alone: Check[] = [
    { name: 'settings', run: () => settings.finding },
    { name: 'node-version', run: () => judgeNodeVersion(process.versions.node) },
    { name: 'native-build', run: () => checkNativeBuild(config?.uwsSha256 ?? []) },
  ];
  const checks = config === undefined ? skipOthers(alone) : [...alone, ...checksOf(config, clock)];
  const results = await Promise.all([
    ...checks.map(runCheck),
    ...(config === undefined ? [] : [checkStore(config, clock), checkBooks(config, clock)]),
  ]);
  return results
    .flat()
    .toSorted((one, other) => NAMES.indexOf(one.name) - NAMES.indexOf(other.name));
}

function checksOf(config: Config, clock: Clock): Check[] {
  return [
    ...createMachineChecks(config),
    ...config.upstreams.flatMap((upstream) => createUpstreamChecks(upstream, clock)),
  ];
}

interface Settings {
  /** Undefined if the settings cannot be used. */
  readonly config: Config | undefined;
  readonly finding: Finding;
}

function readSettings(configPath: string | undefined): Settings {
  try {
    const source = readConfigSource(configPath);
    return { config: parseConfig(source), finding: passCheck(source.path ?? 'the defaults') };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      config: undefined,
      finding: failCheck(error.problems.join('\n'), 'Fix each of these lines.'),
    };
  }
}

function skipOthers(checks: readonly Check[]): Check[] {
  const given = new Set(checks.map(({ name }) => name));
  const run = () => skipCheck('the settings cannot be used');
  return [...checks, ...NAMES.filter((name) => !given.has(name)).map((name) => ({ name, run }))];
}
