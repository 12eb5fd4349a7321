import { expect } from "chai";
import { openStore, type Store } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;

describe("the leader's state in the store", () => {
  let now: number;
  let store: Store;
  beforeEach(async () => {
    now = NOW;
    store = await openStore({ url: "sqlite::memory:", clock: () => now });
  });
  afterEach(() => store.close());

  const lease = async () => (await store.leases.acquire("relayer", "me", 600_000))!;

  it("contains the age of its last round, or undefined before the first", async () => {
    expect(await store.sinceLastRound()).to.equal(undefined);
    await store.asRelayer(await lease(), ({ rounds }) => rounds.ended());
    await store.asRelayer(await lease(), ({ rounds }) => rounds.ended());
    expect(await store.sinceLastRound()).to.be.within(0, 600_000);
  });

  it("counts promises: valid tokens, queued payments and unmined transactions", async () => {
    const reserve = (id: string) =>
      store.reservations.reserve({
        id,
        nullifier: id,
        digest: "0x01",
        bundle: "{}",
        recipient: "0x01",
        client: "c",
        expiresAt: NOW + 100_000,
        validUntil: NOW / 1000 + 180,
      });
    for (const id of ["1", "2", "3"]) await reserve(id);
    await store.operations.enqueuePayment("1", JSON.parse);
    await store.operations.enqueuePayment("2", JSON.parse);
    expect(await store.commitments()).to.deep.equal({ payments: 3, unmined: 0n });
    const transaction = { id: "t", kind: "settle" as const, sender: "0x01", nonce: 0, to: "0x02", data: "0x" };
    const attempt = { hash: "0x03", raw: "0x", maxFee: 7n, maxPriority: 1n, dataFee: 5n };
    await store.asRelayer(await lease(), ({ outbox }) =>
      outbox.record({ ...transaction, gasLimit: 100n, day: "2026-09-21" }, attempt, ["1"]),
    );
    expect(await store.commitments()).to.deep.equal({ payments: 2, unmined: 705n });
    await store.asRelayer(await lease(), ({ outbox }) =>
      outbox.mined("t", "0x03", { number: 1, hash: "0x04" }, true, 400n),
    );
    now += 100_000;
    expect(await store.commitments()).to.deep.equal({ payments: 1, unmined: 0n });
  });
});
