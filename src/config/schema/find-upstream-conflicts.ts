import { ANY_NAME } from '../../lib/name-pattern.ts';
import { FORMAT_NAMES } from '../../protocol/format-names.ts';
import type { SettingPath, SettingProblem } from '../setting-problem.ts';
import { fieldsOf, type RawFields } from './fields.ts';

const HEADERS_MAX = 32;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
/**
 * Headers that the gateway sets itself: they describe the body of a request and govern the
 * connection.
 */
const OWN_HEADERS = [
  ...['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'expect'],
  ...['host', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
];
const OWN_NATIVE_HEADERS = ['anthropic-beta', 'anthropic-version'];
const KEY_HEADERS = ['authorization', 'x-api-key'];
/** Settings that only make sense for an upstream reached over a network. */
const REMOTE_SETTINGS = [
  ...['url', 'headers', 'tls', 'probe', 'unknown_fields', 'accepts', 'sampling'],
];
/** Settings that may be a map of the ids of models, with `*` for all others. */
const SETTINGS_BY_MODEL = ['output_limit_field', 'accepts', 'sampling'];

/** Without `modelIds`, names of models are not checked. */
export function findUpstreamConflicts(
  upstream: RawFields,
  path: SettingPath,
  modelIds: ReadonlySet<unknown> | undefined,
): SettingProblem[] {
  const kind = upstream['kind'];
  const isRemote = FORMAT_NAMES.some((name) => name === kind);
  const problems: SettingProblem[] = [];
  if (isRemote && upstream['url'] === undefined) {
    const message = `is missing: a ${String(kind)} upstream needs one`;
    problems.push({ path: [...path, 'url'], message });
  }
  for (const name of kind === 'simulated' ? REMOTE_SETTINGS : []) {
    if (upstream[name] === undefined) continue;
    problems.push({ path: [...path, name], message: 'a simulated upstream has none' });
  }
  if (isRemote && upstream['simulated'] !== undefined) {
    problems.push({
      path: [...path, 'simulated'],
      message: `is for simulated upstreams only: this one is ${String(kind)}`,
    });
  }
  if (kind !== 'chat' && upstream['output_limit_field'] !== undefined) {
    const message = 'is for chat upstreams only';
    problems.push({ path: [...path, 'output_limit_field'], message });
  }
  const url = upstream['url'];
  if (upstream['tls'] !== undefined && typeof url === 'string' && url.startsWith('http://')) {
    problems.push({ path: [...path, 'tls'], message: 'is for a url that begins with https://' });
  }
  return [
    ...problems,
    ...findUnknownModels(upstream['model_names'], [...path, 'model_names'], modelIds),
    ...findUnknownModels(upstream['cost'], [...path, 'cost'], modelIds),
    ...SETTINGS_BY_MODEL.flatMap((name) =>
      findUnknownModels(
        upstream[name],
        [...path, name],
        modelIds && new Set([...modelIds, ANY_NAME]),
      ),
    ),
    ...findHeaderConflicts(upstream, [...path, 'headers']),
  ];
}

function findUnknownModels(
  byModel: unknown,
  path: SettingPath,
  modelIds: ReadonlySet<unknown> | undefined,
): SettingProblem[] {
  if (modelIds === undefined) return [];
  return Object.keys(fieldsOf(byModel))
    .filter((id) => !modelIds.has(id))
    .map((id) => ({ path: [...path, id], message: 'no model has this id' }));
}

function findHeaderConflicts(upstream: RawFields, path: SettingPath): SettingProblem[] {
  const names = Object.keys(fieldsOf(upstream['headers']));
  const problems: SettingProblem[] = [];
  if (names.length > HEADERS_MAX) {
    problems.push({ path, message: `must have at most ${HEADERS_MAX} headers` });
  }
  const seen = new Set<string>();
  for (const name of names) {
    const lowerName = name.toLowerCase();
    const message = seen.has(lowerName)
      ? 'is set already: the case of header names does not count'
      : explainHeader(lowerName, upstream);
    seen.add(lowerName);
    if (message !== undefined) problems.push({ path: [...path, name], message });
  }
  return problems;
}

/** Explains what is wrong with a header of this name. Undefined if nothing is. */
function explainHeader(name: string, upstream: RawFields): string | undefined {
  if (!HEADER_NAME.test(name)) return 'is not the name of a header';
  const own = upstream['kind'] === 'native' ? OWN_NATIVE_HEADERS : [];
  if (OWN_HEADERS.includes(name) || own.includes(name)) return 'is set by the gateway itself';
  if (KEY_HEADERS.includes(name) && upstream['api_key'] !== undefined) {
    return 'is already set by api_key: use one of them';
  }
  return undefined;
}
