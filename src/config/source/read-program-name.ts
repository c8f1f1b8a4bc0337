/** How a person calls commands where this runs: in a checkout, npm has started it. */
export function readProgramName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['npm_execpath'] === undefined ? 'tollgate' : 'npx tollgate';
}
