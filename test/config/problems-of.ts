import { expect } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

/** The problems of a file `t.yaml` with this text. Empty if there are none. */
export function problemsOf(text: string, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig({ path: 't.yaml', text, env });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
}
