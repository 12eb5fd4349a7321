// Groups of notes, preferences, and what code that extends the wallet reads and proves of its notes.
import { NoteTree, type OriginInputs, prepareOrigin, WITHDRAWAL_INPUTS } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import type { PayOptions, Wallet, WalletNote } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "./support/local-service.ts";
import { start } from "./support/merchant.ts";
import { World } from "./support/world.ts";

const ACCOUNT = `0x${"cc".repeat(20)}`;
/** Dust from outside, as somebody may send it: notes below 10,000 base units. */
const groupOf = ({ amount }: WalletNote): string => (amount < 10_000n ? "dust" : "money");
const amountsOf = (wallet: Wallet, leaves: readonly number[]) =>
  leaves
    .map((leaf) => Number(wallet.notes().find(({ leafIndex }) => leafIndex === leaf)!.amount))
    .sort((a, b) => a - b);

describe("groups of notes", () => {
  it("are merged each for itself, unless the caller consents", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 6_000n, 500_000n, 600_000n]);
    const end = wallet.keepApart(groupOf);
    const merged = async (request = {}) => {
      const { id, notes } = await wallet.merge(request);
      await wallet.discard(id);
      return amountsOf(wallet, notes);
    };
    expect(await merged()).to.deep.equal([500_000, 600_000]);
    expect(await merged({ mix: true })).to.deep.equal([5_000, 6_000, 500_000, 600_000]);
    end();
    expect(await merged()).to.deep.equal([5_000, 6_000, 500_000, 600_000]);
  });

  it("are merged when no group with more money has two notes", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 6_000n, 500_000n]);
    wallet.keepApart(groupOf);
    expect(amountsOf(wallet, (await wallet.merge()).notes)).to.deep.equal([5_000, 6_000]);
  });

  it("refuse a merge or a withdrawal that needs notes of several groups, and say how to consent", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 500_000n]);
    wallet.keepApart(groupOf);
    const error = await rejection(wallet.withdraw({ recipient: ACCOUNT, amount: 500_100n }));
    expect(error).to.include({ code: "NOTES_APART" });
    expect(error.details).to.deep.equal({ needed: "500100", largest: "500000" });
    expect(error.message).to.contain("consent to mix them (mix)");
    expect((await rejection(wallet.merge())).code).to.equal("NOTES_APART");
    const both = await wallet.withdraw({ recipient: ACCOUNT, amount: 500_100n, mix: true });
    expect(amountsOf(wallet, both.notes)).to.deep.equal([5_000, 500_000]);
  });

  it("still report that the wallet has too little", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 500_000n]);
    wallet.keepApart(groupOf);
    const error = await rejection(wallet.withdraw({ recipient: ACCOUNT, amount: 600_000n }));
    expect(error).to.include({ code: "INSUFFICIENT_FUNDS" });
    expect(error.details).to.include({ missing: "95000" });
  });

  it("still report that a group has to be merged first, or to wait", async () => {
    const world = new World();
    const wallet = await world.funded([...Array(WITHDRAWAL_INPUTS + 1).fill(100_000n), 5_000n]);
    wallet.keepApart(groupOf);
    expect((await rejection(wallet.withdraw({ recipient: ACCOUNT, amount: 900_000n }))).code).to.equal(
      "MERGE_REQUIRED",
    );
    await world.deposit(wallet, [200_000n]);
    expect((await rejection(wallet.withdraw({ recipient: ACCOUNT, amount: 1_100_000n }))).code).to.equal(
      "FUNDS_NOT_READY",
    );
    // All of the money together suffices, but only with the dust.
    expect((await rejection(wallet.withdraw({ recipient: ACCOUNT, amount: 1_105_000n }))).code).to.equal("NOTES_APART");
  });

  it("spend notes that nobody has seen, even if a group with more money has one that others saw", async () => {
    const { world, payer, request } = await start([5_000n, 500_000n]);
    payer.keepApart(groupOf);
    const { id, nullifier } = await payer.pay({ ...request, amount: 100_000n });
    expect(payer.notes().find((note) => String(note.nullifier) === nullifier)?.amount).to.equal(500_000n);
    world.chain.time += 3_600;
    world.chain.mine();
    await payer.scan();
    expect(payer.status(id).state).to.equal("expired");
    const withdrawn = await payer.withdraw({ recipient: ACCOUNT, amount: 4_000n });
    expect(amountsOf(payer, withdrawn.notes)).to.deep.equal([5_000]);
  });

  it("leave the wallet one after the other by exits through a service", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n, 6_000n, 500_000n]);
    wallet.keepApart(groupOf);
    const service = new LocalService(world).client;
    const exit = async () => (await wallet.cashOut({ recipient: ACCOUNT, all: true, service })).amount;
    expect([await exit(), await exit()]).to.deep.equal([500_000n, 11_000n]);
    await world.deposit(wallet, [5_000n, 500_000n]);
    await world.append();
    await wallet.scan();
    expect((await wallet.cashOut({ recipient: ACCOUNT, all: true, mix: true, service })).amount).to.equal(505_000n);
  });

  it("stay apart in the merges before a payment", async () => {
    const { world, payer, request } = await start([60_000n, 50_000n, 5_000n]);
    payer.keepApart(groupOf);
    const merged: number[][] = [];
    const merge: PayOptions["merge"] = {
      submit: async (made) => {
        merged.push(amountsOf(payer, made.notes));
        world.withdraw(made);
        await world.append();
      },
      interval: 1,
    };
    await payer.pay({ ...request, amount: 110_000n }, { merge });
    expect(merged).to.deep.equal([[50_000, 60_000]]);
  });

  it("stop a payment whose merge would mix them, unless the caller consents", async () => {
    const { world, payer, request } = await start([60_000n, 50_000n, 5_000n]);
    payer.keepApart(groupOf);
    const merge: PayOptions["merge"] = {
      submit: async (made) => {
        world.withdraw(made);
        await world.append();
      },
      interval: 1,
    };
    const asked = { ...request, amount: 115_000n };
    expect((await rejection(payer.pay(asked, { merge }))).code).to.equal("NOTES_APART");
    expect((await rejection(payer.pay(asked))).code).to.equal("NOTES_APART");
    expect((await payer.pay(asked, { merge, mix: true })).bundle.proof).to.have.length(8);
  });
});

describe("a payment that prefers or requires notes", () => {
  const noteOf = (wallet: Wallet, { nullifier }: { nullifier: string }) =>
    Number(wallet.notes().find((note) => String(note.nullifier) === nullifier)!.amount);
  const isSmall = ({ amount }: WalletNote) => amount < 500_000n;
  const isLarge = ({ amount }: WalletNote) => amount > 500_000n;

  it("spends a preferred note, or another one if no preferred note suffices", async () => {
    const { payer, request } = await start([200_000n, 600_000n, 300_000n]);
    expect(noteOf(payer, await payer.pay(request, { prefer: isLarge }))).to.equal(600_000);
    expect(noteOf(payer, await payer.pay(request, { prefer: isLarge }))).to.equal(200_000);
  });

  it("spends no other notes than the required ones", async () => {
    const { payer, request } = await start([200_000n, 600_000n]);
    expect(noteOf(payer, await payer.pay(request, { only: isLarge }))).to.equal(600_000);
    const error = await rejection(payer.pay(request, { only: ({ amount }) => amount > 700_000n }));
    expect(error).to.include({ code: "NOTES_APART" });
    expect(error.message).to.contain("allow all notes");
    const all = { only: () => true };
    expect((await rejection(payer.pay({ ...request, amount: 900_000n }, all))).code).to.equal("INSUFFICIENT_FUNDS");
  });

  it("merges only required notes first", async () => {
    const { world, payer, request } = await start([60_000n, 50_000n, 70_000n]);
    const merged: number[][] = [];
    const options: PayOptions = {
      only: ({ amount }) => amount !== 70_000n,
      merge: {
        submit: async (made) => {
          merged.push(amountsOf(payer, made.notes));
          world.withdraw(made);
          await world.append();
        },
        interval: 1,
      },
    };
    await payer.pay({ ...request, amount: 110_000n }, options);
    expect(merged).to.deep.equal([[50_000, 60_000]]);
  });

  it("uses a prepared payment only if its note fits", async () => {
    const { world, payer, request } = await start([200_000n, 600_000n]);
    world.chain.time += 12_000;
    world.chain.mine();
    const { resourceUrl: _, ...terms } = request;
    const prepared = await payer.prepare(terms);
    expect(noteOf(payer, await payer.pay(request, { only: isLarge }))).to.equal(600_000);
    expect(prepared.usable()).to.equal(true);
    expect(noteOf(payer, await payer.pay(request, { prefer: isLarge }))).to.equal(200_000);
    expect(prepared.usable()).to.equal(false);
  });

  it("prepares a payment from a required or preferred note", async () => {
    const { world, payer, request } = await start([200_000n, 600_000n]);
    world.chain.time += 12_000;
    world.chain.mine();
    const { resourceUrl: _, ...terms } = request;
    for (const choice of [{ only: isLarge }, { prefer: isLarge }]) {
      const prepared = await payer.prepare(terms, choice);
      expect(prepared.usable()).to.equal(true);
      const { id, nullifier } = await payer.pay(request);
      expect(noteOf(payer, { nullifier })).to.equal(600_000);
      expect(prepared.usable()).to.equal(false);
      await payer.discard(id);
    }
    expect((await rejection(payer.prepare(terms, { only: () => false }))).code).to.equal("NOTES_APART");
  });

  it("prepares no payment from a note that the payment would not spend, and says if another one is chosen now", async () => {
    const { world, payer, request } = await start([200_000n, 600_000n]);
    world.chain.time += 12_000;
    world.chain.mine();
    const { resourceUrl: _, ...terms } = request;
    const prepared = await payer.prepare(terms, { prefer: isLarge });
    const large = payer.notes().find(isLarge)!;
    expect(prepared.note).to.equal(large.leafIndex);
    const chosen = [{}, { prefer: isLarge }, { only: isLarge }, { prefer: isSmall }, { only: isSmall }];
    expect(chosen.map((choice) => prepared.usable(choice))).to.deep.equal([true, true, true, false, false]);
    const other = { ...terms, amount: terms.amount + 1n };
    expect((await rejection(payer.prepare(other, { prefer: isLarge }))).code).to.equal("FUNDS_NOT_READY");
    expect((await payer.prepare(other, { prefer: isSmall })).note).to.not.equal(large.leafIndex);
  });
});

describe("what the wallet offers to code that extends it", () => {
  it("has the pool's leaves by index and by block, and the spends of its notes", async () => {
    const { world, payer, request } = await start([500_000n], { finality: 1 });
    world.chain.mine();
    await payer.scan();
    const [note] = payer.notes();
    expect(payer.leafAt(note!.leafIndex)).to.equal(note!.commitment);
    expect(payer.leafAt(1)).to.equal(undefined);
    // Queued in one block, appended in the next one.
    const blocks = [note!.blockNumber, note!.blockNumber + 1];
    expect(blocks.map((block) => payer.treeSizeAt(block))).to.deep.equal([0, 1]);
    expect(payer.treeSizeAt(payer.height + 1)).to.equal(undefined);
    expect(payer.spends()).to.deep.equal([]);
    const { nullifier } = await payer.pay(request);
    world.settle(await payer.payAgain(payer.history()[0]!.id));
    await payer.scan();
    expect(payer.spends()[0]).to.deep.include({ leafIndex: 0, nullifier: BigInt(nullifier), confirmed: false });
    world.chain.mine();
    await payer.scan();
    expect(payer.spends()[0]).to.include({ confirmed: true, by: "payment" });
    expect(payer.confirmed!.number).to.equal(payer.height - 1);
  });

  it("proves a statement about a note, spent or not, and checks the proof's signals", async () => {
    const { world, payer, request } = await start([500_000n]);
    const tree = new NoteTree();
    tree.append([payer.leafAt(0)!]);
    const statements: OriginInputs[] = [];
    const prove = (options = {}) =>
      payer.proveNote(
        0,
        "origin",
        (note) => {
          statements.push(prepareOrigin({ note, path: tree.path(0), maskRoot: tree.root }));
          return statements.at(-1)!;
        },
        options,
      );
    expect(await prove()).to.have.length(8);
    const { nullifier } = await payer.pay(request);
    world.settle(await payer.payAgain(payer.history()[0]!.id));
    await payer.scan();
    expect(payer.notes()[0]!.state).to.equal("spent");
    expect(await prove({ idle: true })).to.have.length(8);
    expect(statements.map((statement) => statement.nullifier)).to.deep.equal(Array(2).fill(BigInt(nullifier)));
    expect(world.prover.asked.filter((circuit) => circuit === "origin")).to.have.length(2);
    expect((await rejection(payer.proveNote(9, "origin", () => statements[0]!))).code).to.equal("INVALID_OPTION");
    // A prover that proves something else.
    const other = { ...statements[0]!, publicSignals: [7n, 8n] };
    expect((await rejection(payer.proveNote(0, "origin", () => other))).code).to.equal("PROOF_MISMATCH");
    const idle = payer.proveNote(0, "origin", () => other, { idle: true });
    expect((await rejection(idle)).code).to.equal("PROOF_MISMATCH");
    await payer.close();
    expect((await rejection(prove())).code).to.equal("WALLET_CLOSED");
  });

  it("proves a note while idle only when no payment is being proved", async () => {
    const { world, payer, request } = await start([500_000n]);
    const tree = new NoteTree();
    tree.append([payer.leafAt(0)!]);
    const order: string[] = [];
    let idle: Promise<unknown> | undefined;
    world.prover.before = (circuit) => {
      order.push(circuit);
      idle ??= payer
        .proveNote(0, "origin", (note) => prepareOrigin({ note, path: tree.path(0), maskRoot: tree.root }), {
          idle: true,
        })
        .then(() => order.push("done"));
    };
    await payer.pay(request);
    await idle;
    expect(order).to.deep.equal(["payment", "elgamal_range", "origin", "done"]);
  });
});
