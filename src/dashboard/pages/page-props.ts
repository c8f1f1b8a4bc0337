export interface PageProps {
  /** What stands for `{id}` in the address; empty where nothing does. */
  readonly id: string;
}
