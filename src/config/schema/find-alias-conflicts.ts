import { canBothMatch, countSaidChars, isNamePattern } from '../../lib/name-pattern.ts';
import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import type { RawFields } from './fields.ts';

/** Bounds the work for a name that matches no alias, which is compared with every pattern. */
const PATTERNS_MAX = 256;

interface Pattern {
  readonly text: string;
  readonly model: number;
  readonly path: SettingPath;
}

/**
 * Finds pairs of patterns of two models that both match some name although neither pattern is more
 * specific.
 */
export function findAliasConflicts(
  models: readonly (readonly [index: number, model: RawFields])[],
): SettingProblem[] {
  const patterns = models.flatMap(([index, { aliases }]) => listPatterns(index, aliases));
  if (patterns.length > PATTERNS_MAX) {
    return [{ path: ['models'], message: `must have at most ${PATTERNS_MAX} aliases with a *` }];
  }
  return patterns.flatMap((pattern, place) => {
    const rival = patterns.slice(0, place).find((other) => isRival(pattern, other));
    if (rival === undefined) return [];
    const message = `matches names that ${JSON.stringify(rival.text)} of another model also matches, and neither is longer`;
    return [{ path: pattern.path, message }];
  });
}

function listPatterns(model: number, aliases: unknown): Pattern[] {
  if (!Array.isArray(aliases)) return [];
  return aliases.flatMap((text: unknown, place) =>
    typeof text === 'string' && isNamePattern(text)
      ? [{ text, model, path: ['models', model, 'aliases', place] }]
      : [],
  );
}

/** Equal patterns are reported elsewhere, as one name that occurs twice. */
function isRival(pattern: Pattern, other: Pattern): boolean {
  return (
    pattern.model !== other.model &&
    pattern.text !== other.text &&
    countSaidChars(pattern.text) === countSaidChars(other.text) &&
    canBothMatch(pattern.text, other.text)
  );
}
