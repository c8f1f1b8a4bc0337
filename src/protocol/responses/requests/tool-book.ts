import { shortenToolName, TOOL_NAME_CHARS_MAX } from '../../fields/fit-tool-name.ts';
import type { Tool } from '../../inference.ts';
import { INPUT_FIELD } from '../answers/custom-input.ts';
import { NO_TOOL_NAMES, type ToolName, type ToolNames } from '../response-context.ts';
import type { CustomTool, FunctionTool, ToolDefinition } from './responses-request.ts';

const NAME = /[^a-zA-Z0-9_-]/g;

/**
 * The tools that a model is offered, and under which names. A model knows one flat list of
 * functions, so a tool of a namespace gets a longer name, and a custom tool becomes a function of
 * one text.
 */
export class ToolBook {
  readonly tools: Tool[] = [];
  /** Definitions of tools that came before. */
  readonly repeated: object[] = [];
  /** Tools that a client cannot run, and that are not offered. */
  hostedCount = 0;
  readonly #byName = new Map<string, ToolName>();
  readonly #byClientName = new Map<string, string>();

  /** Those whose name or kind is another one for the client. */
  get names(): ToolNames {
    if (this.#byName.size === 0) return NO_TOOL_NAMES;
    const entries = [...this.#byName];
    return new Map(entries.filter(([known, { name, isCustom }]) => isCustom || known !== name));
  }

  add(definitions: readonly ToolDefinition[], namespace?: string): void {
    for (const definition of definitions) {
      if (definition.type === 'namespace') this.add(definition.tools, definition.name);
      else if (definition.type === 'function' || definition.type === 'custom') {
        this.#addTool(definition, namespace);
      } else this.hostedCount += 1;
    }
  }

  /** Returns the name by which the model knows a tool, offered or not. */
  nameOf(name: string, namespace: string | null | undefined): string {
    const known = this.#byClientName.get(keyOf(name, namespace ?? undefined));
    return known ?? flatten(name, namespace ?? undefined);
  }

  isCustom(name: string): boolean {
    return this.#byName.get(name)?.isCustom === true;
  }

  /** A tool that is defined twice is offered once. */
  #addTool(definition: FunctionTool | CustomTool, namespace: string | undefined): void {
    const key = keyOf(definition.name, namespace);
    if (this.#byClientName.has(key)) {
      this.repeated.push(definition);
      return;
    }
    const isCustom = definition.type === 'custom';
    const plain = flatten(definition.name, namespace);
    const name = this.#byName.has(plain) ? shortenToolName(plain, key) : plain;
    this.#byClientName.set(key, name);
    this.#byName.set(name, { name: definition.name, namespace, isCustom });
    this.tools.push(isCustom ? wrapCustom(definition, name) : writeFunction(definition, name));
  }
}

/** Finds the names by which the model of a request knows the tools that an answer calls. */
export function createNameFinder(toolNames: ToolNames): ToolBook['nameOf'] {
  let byClientName: ReadonlyMap<string, string> | undefined;
  return (name, namespace) => {
    byClientName ??= new Map(
      [...toolNames].map(([known, tool]) => [keyOf(tool.name, tool.namespace), known]),
    );
    const known = byClientName.get(keyOf(name, namespace ?? undefined));
    return known ?? flatten(name, namespace ?? undefined);
  };
}

const keyOf = (name: string, namespace: string | undefined) => `${namespace ?? ''}\n${name}`;

/** Returns the name by which a model knows a tool of a namespace, unless another tool has it. */
function flatten(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name;
  const long = `${namespace}__${name}`;
  const flat = long.replace(NAME, '_');
  return flat.length > TOOL_NAME_CHARS_MAX || flat !== long ? shortenToolName(flat, long) : flat;
}

function writeFunction({ description, parameters }: FunctionTool, name: string): Tool {
  return {
    name,
    ...(typeof description === 'string' && { description }),
    // Native tools need the type, which clients leave out for tools without parameters.
    input_schema: { type: 'object', properties: {}, ...parameters },
  };
}

function wrapCustom({ description, format }: CustomTool, name: string): Tool {
  const { syntax = 'lark', definition } = format ?? {};
  const grammar =
    definition === undefined
      ? ''
      : `The text must follow this grammar, written for ${syntax}:\n${definition}`;
  const words = [description ?? '', grammar].filter((text) => text !== '').join('\n\n');
  return {
    name,
    ...(words !== '' && { description: words }),
    input_schema: {
      type: 'object',
      properties: { [INPUT_FIELD]: { type: 'string', description: 'The whole text.' } },
      required: [INPUT_FIELD],
      additionalProperties: false,
    },
  };
}
