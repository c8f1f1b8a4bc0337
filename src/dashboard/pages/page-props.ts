export interface PageProps {
  /** The part of the address in the place of `{id}`; empty if the page has none. */
  readonly id: string;
}
