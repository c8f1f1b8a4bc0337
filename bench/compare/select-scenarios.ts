import type { Options } from './parse-options.ts';
import type { Scenario } from './scenario.ts';

/** Throws if a named contestant is in none of the scenarios. */
export function selectScenarios(scenarios: readonly Scenario[], options: Options): Scenario[] {
  const known = new Set(
    scenarios.flatMap(({ stages }) =>
      stages.flatMap(({ contestants }) => contestants.map(({ name }) => name)),
    ),
  );
  const unknown = options.contestants?.filter((name) => !known.has(name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`no contestant ${unknown.join(', ')}; there are: ${[...known].join(', ')}`);
  }
  return scenarios
    .map((scenario) => narrow(scenario, options))
    .filter(({ stages }) => stages.length > 0);
}

function narrow(scenario: Scenario, { seconds, rounds, contestants }: Options): Scenario {
  const isWanted = ({ name }: { readonly name: string }) => contestants?.includes(name) ?? true;
  const stages = scenario.stages.map((stage) => ({
    ...stage,
    contestants: stage.contestants.filter(isWanted),
  }));
  return {
    ...scenario,
    stages: stages.filter((stage) => stage.contestants.length > 0),
    seconds: seconds ?? scenario.seconds,
    warmUpSeconds: seconds ?? scenario.warmUpSeconds,
    rounds: rounds ?? scenario.rounds,
  };
}
