import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRouter, type Lease } from '../../../src/routing/router.ts';
import { createWaitingRoom } from '../../../src/routing/waiting-room.ts';
import { NONE } from './routing-support.ts';

/** Model `one` leads to upstream `a` alone, `both` to `a` and `b`, and `other` to `c`. */
function createTestRoom(waitersPerModelMax = 100) {
  const time = { nowMs: 0 };
  const route = (upstream: string) => ({ upstream, weight: 1, priority: 1 });
  const router = createRouter({
    routes: new Map([
      ['one', [route('a')]],
      ['both', [route('a'), route('b')]],
      ['other', [route('c')]],
    ]),
    upstreams: ['a', 'b', 'c'].map((name) => ({ name, concurrencyMax: 2 })),
    clock: { nowMs: () => time.nowMs },
    random: () => 0.5,
  });
  const room = createWaitingRoom({ router, waitersPerModelMax });
  const take = (model: string, exclude: ReadonlySet<string> = NONE): Lease => {
    const chosen = room.choose(model, exclude);
    if (chosen.kind === 'none') throw new Error(`no route: ${chosen.why}`);
    return chosen;
  };
  const served: { id: string; lease: Lease }[] = [];
  const wait = (id: string, model: string, exclude: ReadonlySet<string> = NONE) =>
    room.wait(model, exclude, (lease) => served.push({ id, lease }));
  const servedIds = () => served.map(({ id }) => id);
  return { router, room, time, take, wait, served, servedIds };
}

describe('the waiting room', () => {
  it('hands a place on when a lease ends, in the order of arrival', () => {
    const { take, wait, served, servedIds } = createTestRoom();
    const [first] = [take('one'), take('one')];
    for (const id of ['x', 'y', 'z']) wait(id, 'one');
    expect(servedIds()).toEqual([]);
    first.end('ok');
    expect(servedIds()).toEqual(['x']);
    served[0]?.lease.end('failed');
    expect(servedIds()).toEqual(['x', 'y']);
  });

  it('lets nobody overtake those who wait', () => {
    const { room, take, wait, servedIds } = createTestRoom();
    const [first] = [take('one'), take('one')];
    wait('x', 'one');
    first.end('ok');
    expect(room.choose('one', NONE)).toMatchObject({ why: 'full' });
    expect(servedIds()).toEqual(['x']);
  });

  it('serves first who waits for an upstream that rested, when somebody else asks', () => {
    const { room, time, take, wait, servedIds } = createTestRoom();
    take('both', new Set(['b'])).end('overloaded', 5_000);
    take('both');
    take('both');
    wait('x', 'both');
    wait('y', 'both');
    time.nowMs += 5_000;
    expect(room.choose('both', NONE)).toMatchObject({ why: 'full' });
    expect(servedIds()).toEqual(['x', 'y']);
  });

  it('serves all who wait when a probe shows that the upstream is back', () => {
    const { router, time, take, wait, servedIds } = createTestRoom();
    for (let n = 0; n < 5; n += 1) take('one').end('failed');
    time.nowMs += 1_000;
    const probe = take('one');
    wait('x', 'one');
    probe.noteFirstEvent();
    expect(servedIds()).toEqual(['x']);
    expect(router.readStates()[0]).toMatchObject({ health: 'closed', inFlight: 2 });
  });

  it('does not let one who waits for a certain upstream hold up the others', () => {
    const { take, wait, servedIds } = createTestRoom();
    const leases = [take('both'), take('both'), take('both'), take('both'), take('other')];
    take('other');
    wait('not b', 'both', new Set(['b']));
    wait('any', 'both');
    wait('other', 'other');
    leases.find(({ upstream }) => upstream === 'b')?.end('ok');
    expect(servedIds()).toEqual(['any']);
    leases.find(({ upstream }) => upstream === 'c')?.end('ok');
    expect(servedIds()).toEqual(['any', 'other']);
    leases.find(({ upstream }) => upstream === 'a')?.end('ok');
    expect(servedIds()).toEqual(['any', 'other', 'not b']);
  });

  it('has places for so many of each model, and takes them back from who left or was served', () => {
    const { take, wait, servedIds } = createTestRoom(2);
    const first = take('one');
    take('one');
    const leave = wait('w', 'one');
    expect(wait('x', 'one')).toBeDefined();
    expect(wait('y', 'one')).toBeUndefined();
    expect(wait('z', 'other')).toBeDefined();
    leave?.();
    leave?.();
    expect(wait('y', 'one')).toBeDefined();
    expect(wait('v', 'one')).toBeUndefined();
    first.end('ok');
    expect(servedIds()).toEqual(expect.arrayContaining(['x']));
    expect(servedIds()).not.toContain('w');
    expect(wait('v', 'one')).toBeDefined();
  });
});

interface Scene extends ReturnType<typeof createTestRoom> {
  readonly open: Lease[];
  readonly waiting: { readonly id: string; readonly leave: () => void }[];
}

function takeOne<Item>(items: Item[], index: number): Item | undefined {
  return items.splice(index % Math.max(1, items.length), 1)[0];
}

function ask({ room, wait, open, waiting }: Scene, id: string): void {
  const chosen = room.choose('both', NONE);
  if (chosen.kind === 'lease') {
    open.push(chosen);
    return;
  }
  const leave = wait(id, 'both');
  if (leave !== undefined) waiting.push({ id, leave });
}

it('keeps nobody waiting beside a free place, and keeps the order, whatever happens', () => {
  const step = fc.record({
    type: fc.constantFrom('ask', 'ask', 'end', 'leave'),
    index: fc.nat(),
  });
  let waited = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
      const scene: Scene = { ...createTestRoom(5), open: [], waiting: [] };
      const { router, served, open, waiting } = scene;
      for (const [time, { type, index }] of steps.entries()) {
        if (type === 'ask') ask(scene, `${time}`);
        else if (type === 'end') takeOne(open, index)?.end('ok');
        else takeOne(waiting, index)?.leave();
        for (const { id, lease } of served.splice(0)) {
          expect(waiting.shift()?.id).toBe(id);
          open.push(lease);
          waited += 1;
        }
        const inFlight = router.readStates().reduce((sum, state) => sum + state.inFlight, 0);
        expect(inFlight).toBe(open.length);
        expect(waiting.length).toBeLessThanOrEqual(5);
        if (waiting.length > 0) expect(inFlight).toBe(4);
      }
    }),
  );
  expect(waited).toBeGreaterThan(100);
});
