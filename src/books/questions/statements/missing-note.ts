/** For the owner of an account in whose bucket entries are missing. */
export const MISSING_NOTE =
  'Entries were lost: requests and payments before the end of this month may be missing.';
