import { FreeIds } from '../../native/requests/free-ids.ts';

/** The calls of one turn that came with the same id. */
interface Namesakes {
  readonly ids: string[];
  answered: number;
}

/**
 * The ids of calls and their results. Chat upstreams may use an id once more in a later turn, or
 * even twice in the same one, but a native conversation has each of them once.
 */
export class CallIds {
  readonly #free = new FreeIds();
  /** The calls of the latest turn, by the id that the client knows. */
  readonly #calls = new Map<string, Namesakes>();
  #isAnswered = false;

  addCall(clientId: string): string {
    if (this.#isAnswered) this.#calls.clear();
    this.#isAnswered = false;
    const id = this.#free.take(clientId);
    const namesakes = this.#calls.get(clientId);
    if (namesakes === undefined) this.#calls.set(clientId, { ids: [id], answered: 0 });
    else namesakes.ids.push(id);
    return id;
  }

  /** Returns the id of the call that a result belongs to. Namesakes are answered in their order. */
  addResult(clientId: string): string {
    this.#isAnswered = true;
    const namesakes = this.#calls.get(clientId);
    if (namesakes === undefined) return clientId;
    const { ids, answered } = namesakes;
    namesakes.answered += 1;
    return ids[Math.min(answered, ids.length - 1)] ?? clientId;
  }
}
