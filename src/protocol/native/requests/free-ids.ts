/** Gives out ids for the calls of one conversation, each of them once. */
export class FreeIds {
  readonly #taken = new Set<string>();
  /** The last number added to each id that has come before. */
  readonly #counts = new Map<string, number>();

  /** A client may send an id any number of times, so counting continues from the last number. */
  take(wanted: string): string {
    let count = this.#counts.get(wanted) ?? 0;
    let id = wanted;
    for (; this.#taken.has(id); id = `${wanted}_${count}`) count += 1;
    this.#counts.set(wanted, count);
    this.#taken.add(id);
    return id;
  }
}
