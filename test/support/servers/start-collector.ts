import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { CleanUp } from '../create-temp-dir.ts';

const int64 = z.string().regex(/^-?\d{1,19}$/);
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value }))
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, 'keys are unique');
const spanId = z
  .string()
  .regex(/^[0-9a-f]{16}$/)
  .refine((id) => !/^0+$/.test(id));
const unixNano = z.string().regex(/^\d{19}$/);

const span = z
  .strictObject({
    traceId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .refine((id) => !/^0+$/.test(id)),
    spanId,
    parentSpanId: spanId.optional(),
    traceState: z.string().optional(),
    flags: z.int().min(0).max(255),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: unixNano,
    endTimeUnixNano: unixNano,
    attributes,
    status: z.strictObject({ code: z.literal(2).optional(), message: z.string().optional() }),
  })
  .refine(
    ({ startTimeUnixNano, endTimeUnixNano }) =>
      BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano),
    'a span does not end before it begins',
  );

const exportRequest = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.tuple([
        z.strictObject({
          scope: z.strictObject({ name: z.string().min(1), version: z.string().min(1) }),
          spans: z.array(span).min(1),
        }),
      ]),
    }),
  ]),
});

export interface CollectedSpan extends Omit<z.output<typeof span>, 'attributes'> {
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface Collector {
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  readonly resources: Readonly<Record<string, string | number | boolean>>[];
  readonly headers: IncomingHttpHeaders[];
  /** The bodies as they arrived. */
  readonly bodies: string[];
  /** The complaints of the strict reader. */
  readonly problems: string[];
}

export interface CollectorOptions {
  /**
   * The status for each request, by its number from 1. If undefined, the request gets no answer.
   */
  readonly answer?: (number: number) => number | undefined;
  /** The number of spans that the collector reports as rejected for each request. */
  readonly rejected?: number;
  /** More than any collector has to say. */
  readonly answerBytes?: number;
  readonly cleanUp: CleanUp;
}

/** Accepts spans over OTLP/HTTP as specified, and nothing else. */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const { answer = () => 200, rejected = 0, answerBytes = 0 } = options;
  const partialSuccess = { rejectedSpans: String(rejected), errorMessage: '' };
  const answerText = JSON.stringify(rejected > 0 ? { partialSuccess } : {}).padEnd(answerBytes);
  const spans: CollectedSpan[] = [];
  const resources: Collector['resources'] = [];
  const headers: IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  const problems: string[] = [];
  const take = (body: string) => {
    const parsed = exportRequest.safeParse(JSON.parse(body));
    if (!parsed.success) {
      problems.push(z.prettifyError(parsed.error));
      return;
    }
    const [{ resource, scopeSpans }] = parsed.data.resourceSpans;
    resources.push(readAttributes(resource.attributes));
    for (const each of scopeSpans[0].spans) {
      spans.push({ ...each, attributes: readAttributes(each.attributes) });
    }
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      headers.push(request.headers);
      const status = answer(bodies.length);
      if (status === undefined) return;
      if (request.method !== 'POST' || request.url !== '/v1/traces') problems.push('wrong place');
      if (status === 200) take(body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(answerText);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  options.cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}/v1/traces`;
  return { endpoint, spans, resources, headers, bodies, problems };
}

function readAttributes(list: z.output<typeof attributes>): CollectedSpan['attributes'] {
  return Object.fromEntries(
    list.map(({ key, value: each }) => {
      const [read] = Object.values(each);
      return [key, 'intValue' in each ? Number(each.intValue) : (read ?? '')];
    }),
  );
}
