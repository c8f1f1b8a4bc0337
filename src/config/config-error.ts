/** The settings cannot be used; `problems` names every mistake, one line each, and no secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`bad configuration:\n${problems.map((problem) => `- ${problem}`).join('\n')}`, options);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
