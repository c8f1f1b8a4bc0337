/** The node deletes the record of a revoked key when so much time has passed. */
export const REVOKED_KEPT_DAYS = 90;
