/** The part of OTLP in JSON that is sent here; see `opentelemetry/proto/trace/v1/trace.proto`. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** Whole numbers have 64 bits in OTLP, and its JSON writes them as text. */
type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

export const KIND_INTERNAL = 1;
export const KIND_SERVER = 2;
export const KIND_CLIENT = 3;
export const STATUS_ERROR = 2;

/** Leaves out values that are undefined. Numbers are whole, unless `fraction` wraps them. */
export function encodeAttributes(
  values: Readonly<Record<string, string | number | boolean | Fraction | undefined>>,
): OtlpAttribute[] {
  const attributes: OtlpAttribute[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined) attributes.push({ key, value: encodeValue(value) });
  }
  return attributes;
}

interface Fraction {
  readonly fraction: number;
}

function encodeValue(value: string | number | boolean | Fraction): OtlpValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return typeof value === 'number' ? { intValue: String(value) } : { doubleValue: value.fraction };
}

/** Nanoseconds do not fit into a number, and the time is known to microseconds only. */
export function encodeUnixNano(unixMs: number): string {
  const micros = Math.round(unixMs * 1_000);
  return `${micros}000`;
}
