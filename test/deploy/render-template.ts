import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

/**
 * The part of the template language of Helm that the chart uses. It refuses what it does not know, so a chart
 * that it renders says nothing that was not looked at.
 */
export interface TemplateSet {
  /** Takes up what the text defines, and answers the rest of it, filled in. */
  render(text: string, dot: unknown): string;
}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly expression: string }
  | { readonly kind: Block; readonly expression: string; readonly body: readonly Node[] };
type Block = 'if' | 'with' | 'define';
type Call = (...args: unknown[]) => unknown;

export function createTemplateSet(): TemplateSet {
  const definitions = new Map<string, readonly Node[]>();
  const functions: Readonly<Record<string, Call>> = {
    ...FUNCTIONS,
    include: (name, dot) => {
      const body = definitions.get(String(name));
      if (body === undefined) throw new Error(`nothing defines ${String(name)}`);
      return fill(body, dot);
    },
  };

  const fill = (nodes: readonly Node[], dot: unknown): string =>
    nodes.map((node) => fillNode(node, dot)).join('');
  const fillNode = (node: Node, dot: unknown): string => {
    if (node.kind === 'text') return node.text;
    if (node.kind === 'define') {
      definitions.set(String(JSON.parse(node.expression)), node.body);
      return '';
    }
    const value = evaluate(node.expression, dot, functions);
    if (node.kind === 'value') return print(value, node.expression);
    if (isEmpty(value)) return '';
    return fill(node.body, node.kind === 'with' ? value : dot);
  };
  return { render: (text, dot) => fill(parseTemplate(text), dot) };
}

const FUNCTIONS: Readonly<Record<string, Call>> = {
  add: (...numbers) => numbers.reduce<number>((sum, number) => sum + Number(number), 0),
  default: (otherwise, value) => (isEmpty(value) ? otherwise : value),
  nindent: (spaces, text) => {
    const indent = ' '.repeat(Number(spaces));
    const lines = String(text).split('\n');
    return `\n${lines.map((line) => indent + line).join('\n')}`;
  },
  not: (value) => isEmpty(value),
  omit: (map, ...keys) =>
    Object.fromEntries(Object.entries(map as object).filter(([key]) => !keys.includes(key))),
  quote: (value) => JSON.stringify(String(value)),
  required: (message, value) => {
    if (isEmpty(value)) throw new Error(String(message));
    return value;
  },
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  toYaml: (value) => stringify(value).trimEnd(),
};

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
    const block = /^(if|with|define) (.+)$/s.exec(action);
    if (block !== null) {
      const body: Node[] = [];
      add({ kind: block[1] as Block, expression: block[2] ?? '', body });
      open.push(body);
    } else if (action === 'end') {
      open.pop();
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
  dot: unknown,
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

/** As Helm does it: the last part may be missing, and none before it. */
function lookUp(dot: unknown, path: string): unknown {
  return path
    .split('.')
    .filter((part) => part !== '')
    .reduce<unknown>((value, part) => {
      if (typeof value !== 'object' || value === null) throw new Error(`${path} leads nowhere`);
      return (value as Readonly<Record<string, unknown>>)[part];
    }, dot);
}
