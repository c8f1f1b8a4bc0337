import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { nodeParts } from '../ops/schemas/cluster-schemas.ts';
import type { Beat } from './beat.ts';

/** If it would be longer, what each worker says about each upstream is left out. */
const DETAIL_CHARS_MAX = 32 * 1024;
const UNPACKED_BYTES_MAX = 16 * 1024 * 1024;

const nodeDetail = z.object(nodeParts);
/** A node in full. */
export type NodeDetail = z.infer<typeof nodeDetail>;

/** What a node knows of itself, beside what the fleet counts for it. */
export type OwnNode = Omit<Beat, 'state' | 'uptime_ms' | 'open' | 'requests_per_s' | 'rows'>;

export function packNode(detail: NodeDetail): string {
  const packed = pack(detail);
  if (packed.length <= DETAIL_CHARS_MAX) return packed;
  return pack({
    ...detail,
    upstreams: detail.upstreams.map((upstream) => ({ ...upstream, workers: [] })),
  });
}

/** Undefined if it cannot be read. */
export function unpackNode(packed: string): NodeDetail | undefined {
  try {
    const bytes = inflateRawSync(Buffer.from(packed, 'base64'), {
      maxOutputLength: UNPACKED_BYTES_MAX,
    });
    return nodeDetail.parse(JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}

function pack(detail: NodeDetail): string {
  return deflateRawSync(JSON.stringify(detail)).toString('base64');
}
