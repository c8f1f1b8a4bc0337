import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { useGateway } from '../support/use-gateway.ts';
import { runHere } from './use-cli.ts';

const gateway = useGateway({ config: 'workers: 1\n' });
const SHOWN = 'reading the ledger';

/** Runs a command line in a terminal of its own, or without one; answers what it wrote to standard error. */
function readErrors(line: string, isTerminal: boolean): string {
  const command = `${process.execPath} dist/src/main.js ${line} 2>&1 >/dev/null`;
  const [program, ...args] = isTerminal
    ? ['script', '-qec', command, '/dev/null']
    : ['sh', '-c', command];
  const env = { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: gateway().dataDir };
  return spawnSync(program ?? '', args, { encoding: 'utf8', env }).stdout;
}

describe('the command line', () => {
  it('tells people how far long work is, and nobody else', () => {
    for (const line of ['ledger verify', 'ledger export']) {
      expect(readErrors(line, true), line).toContain(`${SHOWN}\r`);
      expect(readErrors(line, false), line).toBe('');
    }
  });

  it('takes --json wherever data is printed', async () => {
    const { out: help } = await runHere({}, 'help');
    const groups = [...help.matchAll(/^ {2}(\w+) /gm)].map((match) => match[1] ?? '');
    expect(groups).toContain('ledger');
    const printsNoData = ['start', 'completion', 'help'];
    for (const group of groups.filter((name) => !printsNoData.includes(name))) {
      const { out } = await runHere({}, group, '--help');
      const commands = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}(\w+) /gm)];
      const names = commands.map((match) => match[1] ?? '').filter((name) => name !== 'help');
      for (const line of names.length > 0 ? names.map((name) => [group, name]) : [[group]]) {
        const { out: text } = await runHere({}, ...line, '--help');
        expect(text, line.join(' ')).toContain('--json');
      }
    }
  });
});
