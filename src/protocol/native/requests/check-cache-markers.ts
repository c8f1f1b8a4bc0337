import type { CacheControl } from '../../inference.ts';
import { Refusal } from '../../refusals.ts';
import { isObject } from '../../schema.ts';
import type { NativeRequest } from './native-request.ts';

const MARKERS_MAX = 4;

interface Marker {
  readonly path: string;
  readonly ttl: '5m' | '1h';
}

/**
 * At most four places may be marked for the cache, and those that are kept longer must come first.
 */
export function checkCacheMarkers(body: NativeRequest): void {
  const markers = readMarkers(body);
  if (markers.length === 0) return;
  if (markers.length > MARKERS_MAX) {
    throw new Refusal(
      'invalid_request',
      `A maximum of ${MARKERS_MAX} blocks with cache_control may be provided. Found ${markers.length}.`,
      { param: 'cache_control' },
    );
  }
  const firstShort = markers.findIndex(({ ttl }) => ttl === '5m');
  const late = markers.find(({ ttl }, i) => ttl === '1h' && firstShort !== -1 && i > firstShort);
  if (late !== undefined) {
    throw new Refusal(
      'invalid_request',
      `${late.path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
      { param: late.path },
    );
  }
}

/** Lists the markers in the order in which a model reads them. */
function readMarkers(body: NativeRequest): Marker[] {
  const markers: Marker[] = [];
  addMarkers(body.tools, 'tools', markers);
  addMarkers(body.system, 'system', markers);
  body.messages.forEach(({ content }, i) => {
    if (isAnyMarked(content)) addMarkers(content, `messages.${i}.content`, markers);
  });
  // A marker for the whole request applies to the last block, unless that block has its own.
  const control = body.cache_control;
  if (control != null && !isLastBlockMarked(body)) {
    markers.push({ path: 'cache_control.ttl', ttl: control.ttl ?? '5m' });
  }
  return markers;
}

/** A quick check, because conversations are long and markers are few. */
function isAnyMarked(items: unknown): boolean {
  if (!Array.isArray(items)) return false;
  return items.some(
    (item) =>
      isObject(item) &&
      (item['cache_control'] !== undefined ||
        (item['type'] === 'tool_result' && isAnyMarked(item['content']))),
  );
}

function addMarkers(items: unknown, path: string, markers: Marker[]): void {
  if (!Array.isArray(items)) return;
  for (const [i, item] of items.entries()) {
    if (!isObject(item)) continue;
    if (item['type'] === 'tool_result')
      addMarkers(item['content'], `${path}.${i}.content`, markers);
    const control = readControl(item);
    if (control !== undefined) {
      markers.push({ path: `${path}.${i}.cache_control.ttl`, ttl: control.ttl ?? '5m' });
    }
  }
}

/** A block of an unknown kind may have any value in this field. */
function readControl(item: Readonly<Record<string, unknown>>): CacheControl | undefined {
  const control = item['cache_control'];
  return isObject(control) ? (control as unknown as CacheControl) : undefined;
}

function isLastBlockMarked({ messages }: NativeRequest): boolean {
  const content = messages.at(-1)?.content;
  const last = typeof content === 'string' ? undefined : content?.at(-1);
  return last !== undefined && 'cache_control' in last && isObject(last.cache_control);
}
