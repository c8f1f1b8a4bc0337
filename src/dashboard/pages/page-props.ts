export interface PageProps {
  /** The part of the address in the place of `{id}`; empty if the page has none. */
  readonly id: string;
  /** The part of the address in the place of `{month}`: `2027-01`. */
  readonly month: string;
}
