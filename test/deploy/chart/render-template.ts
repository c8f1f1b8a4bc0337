import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * The part of Helm's template language that the chart uses. Unknown syntax is an error, so a chart
 * that renders contains nothing unchecked.
 */
export interface TemplateSet {
  /** Adds the definitions of the text to the set, and returns the rest of the text, filled in. */
  render(text: string, dot: unknown): string;
}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly expression: string }
  /** `$name := expression`, in effect for the nodes after it. */
  | { readonly kind: 'variable'; readonly name: string; readonly expression: string }
  | {
      readonly kind: Block;
      /** The loop variable of a `range`. */
      readonly name: string;
      readonly expression: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };
type Block = 'if' | 'with' | 'define' | 'range';
type Call = (...args: unknown[]) => unknown;

/** The names that expressions may use. */
interface Scope {
  readonly dot: unknown;
  /** Names include their `$`; a bare `$` is the root. */
  readonly variables: ReadonlyMap<string, unknown>;
}

export function createTemplateSet(): TemplateSet {
  const definitions = new Map<string, readonly Node[]>();
  const functions: Readonly<Record<string, Call>> = {
    ...FUNCTIONS,
    include: (name, dot) => {
      const body = definitions.get(String(name));
      if (body === undefined) throw new Error(`nothing defines ${String(name)}`);
      return fill(body, rootOf(dot));
    },
  };

  const fill = (nodes: readonly Node[], scope: Scope): string => {
    let inner = scope;
    let filled = '';
    for (const node of nodes) {
      if (node.kind === 'variable') {
        inner = define(inner, node.name, evaluate(node.expression, inner, functions));
      } else filled += fillNode(node, inner);
    }
    return filled;
  };
  const fillNode = (node: Exclude<Node, { kind: 'variable' }>, scope: Scope): string => {
    if (node.kind === 'text') return node.text;
    if (node.kind === 'define') {
      definitions.set(String(JSON.parse(node.expression)), node.body);
      return '';
    }
    const value = evaluate(node.expression, scope, functions);
    if (node.kind === 'value') return print(value, node.expression);
    if (node.kind === 'range') {
      const items = value as readonly unknown[];
      return items.map((item) => fill(node.body, define(scope, node.name, item))).join('');
    }
    if (isEmpty(value)) return fill(node.otherwise, scope);
    return fill(node.body, node.kind === 'with' ? { ...scope, dot: value } : scope);
  };
  return { render: (text, dot) => fill(parseTemplate(text), rootOf(dot)) };
}

function rootOf(dot: unknown): Scope {
  return { dot, variables: new Map([['$', dot]]) };
}

function define(scope: Scope, name: string, value: unknown): Scope {
  return { ...scope, variables: new Map([...scope.variables, [name, value]]) };
}

const FUNCTIONS: Readonly<Record<string, Call>> = {
  add: (...numbers) => numbers.reduce<number>((sum, number) => sum + Number(number), 0),
  default: (otherwise, value) => (isEmpty(value) ? otherwise : value),
  nindent: (spaces, text) => {
    const indent = ' '.repeat(Number(spaces));
    const lines = String(text).split('\n');
    return `\n${lines.map((line) => indent + line).join('\n')}`;
  },
  dig: (...path) => {
    const [map, otherwise, ...names] = path.reverse();
    return names.reverse().reduce((value, name) => {
      return isEmpty(value) ? otherwise : ((value as Fields)[String(name)] ?? otherwise);
    }, map);
  },
  dict: (...pairs) =>
    Object.fromEntries(
      pairs.flatMap((name, at) => (at % 2 === 0 ? [[String(name), pairs[at + 1]]] : [])),
    ),
  eq: (one, other) => one === other,
  fail: (message) => {
    throw new Error(String(message));
  },
  int: (value) => Math.trunc(Number(value)),
  mergeOverwrite: (...maps) => (maps as Fields[]).reduce(merge),
  ne: (one, other) => one !== other,
  not: (value) => isEmpty(value),
  omit: (map, ...keys) =>
    Object.fromEntries(Object.entries(map as object).filter(([key]) => !keys.includes(key))),
  or: (...values) => values.find((value) => !isEmpty(value)) ?? values.at(-1),
  print: (...values) => values.map(String).join(''),
  quote: (value) => JSON.stringify(String(value)),
  regexMatch: (pattern, text) => new RegExp(String(pattern), 'u').test(String(text)),
  required: (message, value) => {
    if (value === undefined || value === null || value === '') throw new Error(String(message));
    return value;
  },
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  ternary: (yes, no, value) => (value === true ? yes : no),
  toYaml: (value) => stringify(value).trimEnd(),
  until: (count) => Array.from({ length: Number(count) }, (_, number) => number),
};

export type Fields = Readonly<Record<string, unknown>>;

/** Merges fields over others, at any depth. Lists are replaced. */
export function merge(base: Fields, over: Fields): Fields {
  const isMap = (value: unknown): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged = Object.entries(over).map(([key, value]) => {
    const below = base[key];
    return [key, isMap(below) && isMap(value) ? merge(below, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(merged) };
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

function print(value: unknown, expression: string): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new Error(`${expression} is nothing that can be written`);
  }
  return String(value);
}

function parseTemplate(text: string): Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  /** The nodes after the `else` of each open block. */
  const branches: Node[][] = [];
  const add = (node: Node) => {
    open.at(-1)?.push(node);
  };
  let end = 0;
  let trimsNext = false;
  const addText = (part: string, trimsEnd: boolean) => {
    const begun = trimsNext ? part.trimStart() : part;
    add({ kind: 'text', text: trimsEnd ? begun.trimEnd() : begun });
  };
  for (const match of text.matchAll(/\{\{(-?)\s*([\s\S]*?)\s*(-?)\}\}/g)) {
    const [whole, before, action = '', after] = match;
    addText(text.slice(end, match.index), before === '-');
    end = match.index + whole.length;
    trimsNext = after === '-';
    const block = /^(if|with|define|range) (?:(\$\w+) := )?(.+)$/s.exec(action);
    const variable = /^(\$\w+) := (.+)$/s.exec(action);
    if (block !== null) {
      const [, kind, name = '', expression = ''] = block;
      const [body, otherwise]: [Node[], Node[]] = [[], []];
      add({ kind: kind as Block, name, expression, body, otherwise });
      open.push(body);
      branches.push(otherwise);
    } else if (variable !== null) {
      add({ kind: 'variable', name: variable[1] ?? '', expression: variable[2] ?? '' });
    } else if (action === 'else') {
      open.splice(-1, 1, branches.at(-1) ?? []);
    } else if (action === 'end') {
      open.pop();
      branches.pop();
    } else {
      add({ kind: 'value', expression: action });
    }
  }
  addText(text.slice(end), false);
  if (open.length !== 1) throw new Error('a block is not closed, or closed twice');
  return root;
}

function evaluate(
  expression: string,
  { dot, variables }: Scope,
  functions: Readonly<Record<string, Call>>,
): unknown {
  const tokens = expression.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|"]+/g) ?? [];
  let at = 0;
  const readOperand = (): unknown => {
    const token = tokens[at] ?? '';
    at += 1;
    if (token === '(') {
      const value = readPipeline();
      at += 1;
      return value;
    }
    if (token.startsWith('"')) return JSON.parse(token);
    if (/^\d+$/.test(token)) return Number(token);
    if (token.startsWith('.')) return lookUp(dot, token);
    if (token.startsWith('$')) {
      const [name = '', ...path] = token.split('.');
      if (!variables.has(name)) throw new Error(`nothing defines ${name}`);
      return lookUp(variables.get(name), path.join('.'));
    }
    const call = functions[token];
    if (call === undefined) throw new Error(`this renderer does not know ${token}`);
    return call;
  };
  const readCommand = (): unknown[] => {
    const operands: unknown[] = [];
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') {
      operands.push(readOperand());
    }
    return operands;
  };
  const readPipeline = (): unknown => {
    const [first, ...args] = readCommand();
    if (typeof first !== 'function' && args.length > 0) throw new Error(`${expression} calls data`);
    let value: unknown = typeof first === 'function' ? first(...args) : first;
    while (tokens[at] === '|') {
      at += 1;
      const [call, ...rest] = readCommand();
      if (typeof call !== 'function') throw new Error(`${expression} pipes into no function`);
      value = call(...rest, value);
    }
    return value;
  };
  return readPipeline();
}

/** As in Helm, the last part of a path may be missing, but no part before it. */
function lookUp(dot: unknown, path: string): unknown {
  return path
    .split('.')
    .filter((part) => part !== '')
    .reduce<unknown>((value, part) => {
      if (typeof value !== 'object' || value === null) throw new Error(`${path} leads nowhere`);
      return (value as Readonly<Record<string, unknown>>)[part];
    }, dot);
}
