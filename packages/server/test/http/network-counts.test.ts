import { expect } from "chai";
import { MAX_SHARED, NetworkCounts, type SharedCounts } from "../../src/http/network-counts.ts";

/** Counts that replicas share in memory. */
class Table {
  readonly #counts = new Map<string, number>();
  readonly sizes: number[] = [];
  fails = false;

  of(replica: string): SharedCounts {
    return {
      exchange: async (window, own) => {
        this.sizes.push(own.size);
        if (this.fails) throw new Error("no database");
        for (const [network, used] of own) this.#counts.set(JSON.stringify([window, network, replica]), used);
        const others = new Map<string, number>();
        for (const [key, used] of this.#counts) {
          const [of, network, by] = JSON.parse(key) as [number, string, string];
          if (of === window && by !== replica && own.has(network))
            others.set(network, (others.get(network) ?? 0) + used);
        }
        return others;
      },
    };
  }
}

describe("counts of requests by network", () => {
  const open = () => {
    const table = new Table();
    const time = { now: 600_000 };
    const warned: string[] = [];
    const log = { warn: (_fields: object, message: string) => void warned.push(message) };
    const replica = (name: string) => new NetworkCounts(table.of(name), log, () => time.now);
    return { table, time, warned, replica };
  };
  const add = (counts: NetworkCounts, network: string, times: number, limit = 100) => {
    let last = counts.add(network, limit);
    for (let i = 1; i < times; i++) last = counts.add(network, limit);
    return last;
  };

  it("include those of other replicas after an exchange, and begin anew each minute", async () => {
    const { time, replica } = open();
    const [a, b] = [replica("a"), replica("b")];
    expect(add(a, "192.0.2.1", 60)).to.deep.equal({ current: 60, ttl: 60_000 });
    await a.exchange();
    expect(add(b, "192.0.2.1", 10).current).to.equal(10);
    await b.exchange();
    expect(add(b, "192.0.2.1", 1).current).to.equal(71);
    expect(add(b, "192.0.2.2", 1).current).to.equal(1);
    time.now += 59_999;
    expect(add(b, "192.0.2.1", 1)).to.deep.equal({ current: 72, ttl: 1 });
    time.now += 1;
    expect(add(b, "192.0.2.1", 1)).to.deep.equal({ current: 1, ttl: 60_000 });
  });

  it("of clients that use less than a tenth of their limit cost nothing", async () => {
    const { table, replica } = open();
    const a = replica("a");
    add(a, "192.0.2.1", 9);
    await a.exchange();
    expect(table.sizes).to.deep.equal([]);
    add(a, "192.0.2.1", 1);
    await a.exchange();
    expect(table.sizes).to.deep.equal([1]);
  });

  it("of a flood from many networks are exchanged up to a limit, those nearest to theirs first", async () => {
    const { table, replica } = open();
    const [a, b] = [replica("a"), replica("b")];
    for (let i = 0; i < 3 * MAX_SHARED; i++) add(a, `192.0.2.${i}`, 10);
    add(a, "2001:db8::/48", 200, 400);
    add(a, "198.51.100.1", 40);
    await a.exchange();
    expect(table.sizes).to.deep.equal([MAX_SHARED]);
    add(b, "2001:db8::/48", 40, 400);
    add(b, "198.51.100.1", 10);
    await b.exchange();
    expect([add(b, "2001:db8::/48", 1, 400).current, add(b, "198.51.100.1", 1).current]).to.deep.equal([241, 51]);
  });

  it("are those of this replica alone while the database fails, with a warning", async () => {
    const { table, warned, replica } = open();
    const a = replica("a");
    table.fails = true;
    add(a, "192.0.2.1", 50);
    await a.exchange();
    expect(warned).to.have.length(1);
    expect(add(a, "192.0.2.1", 1).current).to.equal(51);
  });

  it("wait for the exchange before the next one, so that a slow database gets one at a time", async () => {
    const { time } = open();
    let answer: (others: ReadonlyMap<string, number>) => void = () => undefined;
    let asked = 0;
    const slow: SharedCounts = {
      exchange: () => {
        asked += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    };
    const counts = new NetworkCounts(slow, { warn: () => undefined }, () => time.now);
    add(counts, "192.0.2.1", 50);
    const first = counts.exchange();
    await counts.exchange();
    expect(asked).to.equal(1);
    // An answer about the minute before does not count.
    time.now += 60_000;
    answer(new Map([["192.0.2.1", 99]]));
    await first;
    expect(add(counts, "192.0.2.1", 1).current).to.equal(1);
  });
});
