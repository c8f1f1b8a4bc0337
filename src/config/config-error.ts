/**
 * The settings cannot be used. `problems` names every mistake, one line each, without any secret.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  /** Settings that are valid but cannot change while the node runs. */
  readonly needsRestart: readonly string[];

  constructor(
    problems: readonly string[],
    options: ErrorOptions & { readonly needsRestart?: readonly string[] } = {},
  ) {
    super(`bad configuration:\n${problems.map((problem) => `- ${problem}`).join('\n')}`, options);
    this.name = 'ConfigError';
    this.problems = problems;
    this.needsRestart = options.needsRestart ?? [];
  }
}
