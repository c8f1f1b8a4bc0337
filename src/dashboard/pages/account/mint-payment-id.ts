const RANDOM_BYTES = 16;

/** `crypto.randomUUID` is missing if the page came from another machine without TLS. */
export function mintPaymentId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return `dashboard-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
