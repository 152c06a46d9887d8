import { loadClientModule } from '../support/client-module';

interface Order {
  orderAssignments: (
    buyers: object[],
    groups: { group: object; buyers: object[] }[],
  ) => {
    buyer: { id: number };
    group?: { id: number };
    rank: number;
    weight: number;
    turn?: number;
    share: number;
  }[];
  describeMixture: (assignments: ReturnType<Order['orderAssignments']>) => string | undefined;
}
const { orderAssignments, describeMixture } = loadClientModule<Order>('views/routing-order.ts');

const buyer = (id: number, more: object) => ({ id, route_by_type: 'tier', weight: 1, ...more });

describe('the order of buyers in the console', () => {
  test('is by what they pay before priority, then by weight', () => {
    const rows = orderAssignments(
      [
        buyer(1, { tier: 2 }),
        buyer(2, { tier: 1, weight: 30 }),
        buyer(3, { tier: 1, weight: 70 }),
        buyer(4, { route_by_type: 'revenue', bid_price: 38 }),
      ],
      [],
    );
    expect(rows.map(({ buyer: { id }, turn, share }) => [id, turn, share])).toEqual([
      [4, 1, 1],
      [3, 2, 0.7],
      [2, 2, 0.3],
      [1, 3, 1],
    ]);
  });

  test('warns where some are ordered by price and others by priority', () => {
    const byPrice = buyer(1, { route_by_type: 'revenue', bid_price: 1 });
    const byPriority = buyer(2, { tier: 1 });
    const warn = (...buyers: object[]) => describeMixture(orderAssignments(buyers, []));
    expect(warn(byPrice, byPriority)).toMatch(/^1 of 2 is ordered by price.*go before those/);
    expect([warn(byPrice), warn(byPriority), warn()]).toEqual([undefined, undefined, undefined]);
  });

  test('has the members of groups, at the rank of a group that rings all at once', () => {
    const member = buyer(5, { tier: 9 });
    const group = { id: 1, dial_buyers_type: 'simultaneously', tier: 1, weight: 4 };
    const other = { id: 2, dial_buyers_type: 'sequentially', tier: 1, weight: 4 };
    const rows = orderAssignments(
      [],
      [
        { group: other, buyers: [member] },
        { group, buyers: [member] },
      ],
    );
    expect(rows.map(({ group: through, rank, weight }) => [through?.id, rank, weight])).toEqual([
      [1, 1, 4],
      [2, 9, 1],
    ]);
  });

  test('gives what is paused no turn and no share', () => {
    const rows = orderAssignments([buyer(1, { paused: true }), buyer(2, { tier: 2 })], []);
    expect(rows.map(({ turn, share }) => [turn, share])).toEqual([
      [undefined, 0],
      [1, 1],
    ]);
  });
});
