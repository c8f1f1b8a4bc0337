/** The node deletes the record of a revoked key after this many days. */
export const REVOKED_KEPT_DAYS = 90;
