import {
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import { isSecretSetting } from './secret-settings.ts';
import {
  holdsBareVariable,
  protectReferences,
  restoreReferences,
  substituteVariables,
} from './substitute-variables.ts';

interface LocatedProblem extends SettingProblem {
  readonly line: number;
}

export interface SettingsText {
  /** Undefined if the text contains no settings. */
  readonly value: unknown;
  readonly problems: readonly LocatedProblem[];
  /** The first line from which the text could not be read as intended. */
  readonly brokenLine: number;
  /**
   * The line of a setting or, if it is not written in the file, of the nearest setting around it.
   */
  lineOf(path: SettingPath): number;
  isWritten(path: SettingPath): boolean;
}

interface TextContext {
  readonly env: Readonly<Record<string, string>>;
  lineAt(offset: number | undefined): number;
  /** Lines by the `idOf` of their paths. */
  readonly lines: Map<string, number>;
  readonly problems: LocatedProblem[];
}

const ANCHOR =
  'anchors and aliases are not supported: a value that begins with & or * needs quotes';

/** In our own words, since the reader's messages quote the text, which may be a secret. */
const SYNTAX_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: ANCHOR,
  BAD_DQ_ESCAPE: 'there is no such escape in double quotes: use single quotes to write a backslash',
  BAD_INDENT: 'the indentation does not fit',
  BAD_SCALAR_START: 'a value that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a line has a second ": ": put the value in quotes',
  BLOCK_IN_FLOW: 'a map or list inside { } or [ ] must be written with them as well',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must stand in one line: a colon may be missing',
  MULTIPLE_DOCS: 'a second document begins here: the file must hold one',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  TAG_RESOLVE_FAILED: 'there is no such type: a value that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'there is something here that does not belong: quotes may be missing',
};

const KEY_ALONE =
  'a key needs ": " and a value; a value that holds a comma or a colon needs quotes';

/** Does not show the name, since it may be the secret itself. */
const BARE_VARIABLE = `a variable is written \${NAME}, with braces; a secret that begins with $ has to come from one`;

/** Reads YAML into plain values. Substitutes variables, and notes the line of every setting. */
export function readSettingsText(
  text: string,
  env: Readonly<Record<string, string>>,
): SettingsText {
  const lines = new LineCounter();
  const document = parseDocument(protectReferences(text), {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Found while walking the tree, where the path is known.
    uniqueKeys: false,
  });
  const lineAt = (offset: number | undefined) => lines.linePos(offset ?? 0).line || 1;
  const reading: TextContext = { env, lineAt, lines: new Map(), problems: [] };
  const value = readNode(document.contents, [], reading);
  const syntaxProblems = findSyntaxProblems([...document.errors, ...document.warnings], lineAt);
  const brokenLine = Math.min(...syntaxProblems.map(({ line }) => line));
  return {
    value,
    // After the break, text that looks like a key may be part of a value.
    problems: [
      ...syntaxProblems,
      ...reading.problems.map((problem) =>
        problem.line < brokenLine ? problem : { ...problem, path: [] },
      ),
    ],
    brokenLine,
    lineOf: (path) => {
      for (let depth = path.length; depth > 0; depth -= 1) {
        const line = reading.lines.get(idOf(path.slice(0, depth)));
        if (line !== undefined) return line;
      }
      return 1;
    },
    isWritten: (path) => reading.lines.has(idOf(path)),
  };
}

/** Reports one problem a line, since the reader often sees one slip as several errors. */
function findSyntaxProblems(
  errors: readonly YAMLError[],
  lineAt: TextContext['lineAt'],
): LocatedProblem[] {
  const byLine = new Map<number, LocatedProblem>();
  for (const error of errors) {
    const line = lineAt(error.pos[0]);
    const message = SYNTAX_MESSAGES[error.code] ?? `this is not YAML (${error.code})`;
    if (!byLine.has(line)) byLine.set(line, { path: [], line, message });
  }
  return [...byLine.values()];
}

function readNode(node: Node | null, path: SettingPath, reading: TextContext): unknown {
  // A value that begins with & is more likely a secret than an anchor.
  if (isAlias(node) || (isNode(node) && node.anchor !== undefined)) {
    report(reading, path, offsetOf(node), ANCHOR);
    return undefined;
  }
  if (isMap(node)) return readMap(node, path, reading);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const itemPath = [...path, index];
      reading.lines.set(idOf(itemPath), reading.lineAt(offsetOf(item)));
      return readNode(item as Node | null, itemPath, reading);
    });
  }
  if (isScalar(node)) return readScalar(node.value, path, offsetOf(node), reading);
  return undefined;
}

function readMap(map: YAMLMap, path: SettingPath, reading: TextContext): unknown {
  const entries: [string, unknown][] = [];
  for (const { key, value } of map.items) {
    // Any other key has already been reported as NON_STRING_KEY.
    if (!isScalar(key) || typeof key.value !== 'string') continue;
    if (value === null) {
      // The key is not named, since it may be the rest of a secret: `{admin_token: one,two}`.
      report(reading, path, offsetOf(key), KEY_ALONE);
      continue;
    }
    const name = restoreReferences(key.value);
    const entryPath = [...path, name];
    const firstLine = reading.lines.get(idOf(entryPath));
    if (firstLine === undefined) {
      reading.lines.set(idOf(entryPath), reading.lineAt(offsetOf(key)));
    } else {
      report(reading, entryPath, offsetOf(key), `is already set on line ${firstLine}`);
    }
    entries.push([name, readNode(value as Node | null, entryPath, reading)]);
  }
  return Object.fromEntries(entries);
}

function readScalar(
  scalar: unknown,
  path: SettingPath,
  offset: number | undefined,
  reading: TextContext,
): unknown {
  if (typeof scalar !== 'string') return scalar;
  const { value, unset, isMalformed } = substituteVariables(scalar, reading.env);
  for (const name of unset) {
    report(reading, path, offset, `the environment variable ${name} is not set`);
  }
  if (isSecretSetting(path) && holdsBareVariable(scalar)) {
    report(reading, path, offset, BARE_VARIABLE);
  }
  if (isMalformed) {
    report(reading, path, offset, `a variable is written \${NAME}: letters, digits and _ only`);
  }
  return value;
}

function report(
  reading: TextContext,
  path: SettingPath,
  offset: number | undefined,
  message: string,
): void {
  reading.problems.push({ path, line: reading.lineAt(offset), message });
}

function idOf(path: SettingPath): string {
  return JSON.stringify(path);
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
