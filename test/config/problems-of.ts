import { expect } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

/** What is wrong with a file of this text, `t.yaml`; empty when nothing is. */
export function problemsOf(text: string, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig({ path: 't.yaml', text, env });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
}
