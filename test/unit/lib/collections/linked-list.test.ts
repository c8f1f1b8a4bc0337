import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkedList, type ListLinks } from '../../../../src/lib/collections/linked-list.ts';

interface Item extends ListLinks<Item> {
  readonly name: number;
}

function createItem(name: number): Item {
  return { name, next: undefined, previous: undefined, isListed: false };
}

const namesOf = (items: Iterable<Item>) => [...items].map(({ name }) => name);

describe('a linked list', () => {
  it('has the items and the order that an array would', () => {
    const step = fc.record({
      kind: fc.constantFrom('append', 'insert', 'delete'),
      at: fc.nat({ max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = new LinkedList<Item>();
        const model: Item[] = [];
        for (const [name, { kind, at }] of steps.entries()) {
          const item = createItem(name);
          const other = model[at];
          if (kind === 'append') {
            list.append(item);
            model.push(item);
          } else if (kind === 'insert') {
            list.insertBefore(item, other);
            model.splice(other === undefined ? model.length : at, 0, item);
          } else if (other !== undefined) {
            expect(list.delete(other)).toBe(true);
            model.splice(at, 1);
          }
          expect(namesOf(list)).toEqual(namesOf(model));
          expect([list.size, list.first]).toEqual([model.length, model[0]]);
        }
      }),
    );
  });

  it('deletes an item once, and takes it back', () => {
    const list = new LinkedList<Item>();
    const [first, second] = [createItem(1), createItem(2)];
    list.append(first);
    list.append(second);
    expect([list.delete(first), list.delete(first)]).toEqual([true, false]);
    list.append(first);
    expect(namesOf(list)).toEqual([2, 1]);
  });

  it('leaves nothing in an item that would keep others alive', () => {
    const list = new LinkedList<Item>();
    const items = [createItem(1), createItem(2), createItem(3)];
    for (const item of items) list.append(item);
    const [, middle] = items;
    if (middle !== undefined) list.delete(middle);
    expect(middle).toEqual(createItem(2));
  });

  it('can lose the item that it is at while it is gone through', () => {
    const list = new LinkedList<Item>();
    for (const name of [1, 2, 3]) list.append(createItem(name));
    const seen: number[] = [];
    for (const item of list) {
      seen.push(item.name);
      list.delete(item);
    }
    expect([seen, list.size]).toEqual([[1, 2, 3], 0]);
  });
});
