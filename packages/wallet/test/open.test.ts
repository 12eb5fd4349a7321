import { poolInterface } from "@sotto/chain/ethers";
import { defaultFinality, randomSeed, type ViewingKey } from "@sotto/protocol";
import { TOKEN } from "@sotto/test-chain/token";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, NoteAppender, ViewingWallet, Wallet, type WalletOptions } from "@sotto/wallet";
import { expect } from "chai";
import { Cleanup } from "../src/open/defaults.ts";
import { nodeOf, nodesOf } from "./support/several-nodes.ts";
import { openUntouched, type UntouchedWorld } from "./support/untouched.ts";
import { MERCHANT, URL } from "./support/world.ts";

/** Passes a value that the types forbid. */
const bad = (value: unknown) => value as never;

describe("opening a wallet", () => {
  let world: UntouchedWorld["world"];
  let store: UntouchedWorld["store"];
  let wallet: UntouchedWorld["wallet"];
  let refuses: UntouchedWorld["refuses"];
  beforeEach(async () => {
    ({ world, store, wallet, refuses } = await openUntouched());
  });

  it("rejects an invalid key, chain, pool, store or option", async () => {
    const open = (changes: object) => () => Wallet.open({ ...world.options({ store: new MemoryStore() }), ...changes });
    const cases: [string, object][] = [
      ["INVALID_KEY", { seed: new Uint8Array(16) }],
      ["INVALID_KEY", { seed: undefined }],
      ["INVALID_KEY", { seed: new Uint8Array(32) }],
      ["INVALID_OPTION", { chain: undefined }],
      ["INVALID_OPTION", { store: null }],
      ["INVALID_OPTION", { finality: 1_001 }],
      ["INVALID_OPTION", { finality: -1 }],
      ["INVALID_OPTION", { finality: 1.5 }],
      ["INVALID_OPTION", { rangeSize: 0 }],
      ["INVALID_OPTION", { deploymentBlock: -1 }],
      ["INVALID_ADDRESS", { pool: "0x" }],
      ["INVALID_INTEGER", { chainId: "31337" }],
      ["INVALID_OPTION", { chainId: 31337.5 }],
      ["WRONG_CHAIN", { chainId: 1n }],
      ["POOL_NOT_DEPLOYED", { pool: `0x${"12".repeat(20)}` }],
      ["POOL_MISMATCH", { pool: TOKEN }],
      ["POOL_MISMATCH", { token: MERCHANT }],
    ];
    for (const [code, change] of cases) await refuses(code, open(change));
    await refuses("INVALID_OPTION", () => Wallet.open(bad(undefined)));
    await refuses("STORE_FOREIGN", open({ store }));
    const foreign = new MemoryStore();
    await foreign.put("something", 1);
    await refuses("STORE_FOREIGN", open({ store: foreign }));
  });

  it("asks another node if the first does not have the pool yet", async () => {
    const healthy = nodeOf(world.chain);
    const behind = nodeOf(world.chain, { code: async () => "0x" });
    for (const nodes of [
      [behind, healthy],
      [healthy, behind],
    ])
      await Wallet.open(world.options({ store: new MemoryStore(), chain: nodesOf(...nodes) }));
    await refuses("POOL_NOT_DEPLOYED", () =>
      Wallet.open(world.options({ store: new MemoryStore(), chain: nodesOf(behind, behind) })),
    );
  });

  it("uses the deployment's finality, or the chain's default", async () => {
    const options = world.options({ store: new MemoryStore() });
    const { finality: _, ...rest } = options;
    expect((await Wallet.open({ ...rest, store: new MemoryStore() })).finality).to.equal(0);
    expect((await Wallet.open({ ...rest, store: new MemoryStore(), finality: 5 })).finality).to.equal(5);
    const keys = wallet.viewingKeys({ lasting: true });
    const viewing = await ViewingWallet.open({ ...rest, store: new MemoryStore(), keys });
    world.settle(await wallet.pay({ recipient: world.recipient(wallet), amount: 1_000n, resourceUrl: URL }));
    await viewing.scan();
    expect(viewing.received().map(({ confirmed }) => confirmed)).to.deep.equal([true]);
    expect([31337n, 1337n, 1n, 8453n].map(defaultFinality)).to.deep.equal([0, 0, 2, 2]);
  });

  it("rejects a pool with another tree", async () => {
    const original = world.chain.call.bind(world.chain);
    const { selector } = poolInterface.getFunction("EMPTY_ROOT")!;
    world.chain.call = (call, block) =>
      call.data === selector ? Promise.resolve(`0x${"11".repeat(32)}`) : original(call, block);
    const error = await refuses("POOL_MISMATCH", () => world.wallet({ store: new MemoryStore() }));
    expect(error.message).to.match(/a different note tree/);
  });

  it("rejects development keys on a chain that is not local", async () => {
    world.chain.id = 8453n;
    const options = { ...world.options({ store: new MemoryStore() }), chainId: 8453 };
    await refuses("DEVELOPMENT_KEYS_REFUSED", () => Wallet.open(options));
    await refuses("DEVELOPMENT_KEYS_REFUSED", () => NoteAppender.open(options as never));
    const { prover: _, ...reading } = options;
    expect((await Wallet.open(reading as WalletOptions)).balance().total).to.equal(0n);
  });

  it("rejects artifacts of a different key set than the pool's", async () => {
    const set = "ceremony/autumn-2026";
    const options = { ...world.options({ store: new MemoryStore() }), set };
    const { details } = await refuses("SET_MISMATCH", () => Wallet.open(options));
    expect(details).to.deep.equal({ found: "development", expected: set });
    await refuses("SET_MISMATCH", () => NoteAppender.open(options as never));
    await Wallet.open({ ...options, set: "development" });
  });

  it("allows reading and deposits without a prover, but no spending", async () => {
    const { prover: _, ...options } = world.options({ seed: randomSeed(), store: new MemoryStore() });
    const reading = await Wallet.open(options);
    await world.deposit(reading, [2_000n]);
    await reading.scan();
    expect(reading.balance().total).to.equal(2_000n);
    const request = { recipient: world.recipient(wallet), amount: 1_000n, resourceUrl: URL };
    expect((await rejection(reading.pay(request))).code).to.equal("INVALID_OPTION");
    expect((await rejection(reading.withdraw({ recipient: MERCHANT, amount: 1n }))).code).to.equal("INVALID_OPTION");
  });

  it("runs all cleanup actions in reverse order, and reports the first error", async () => {
    const cleanup = new Cleanup();
    const ran: string[] = [];
    for (const name of ["lock", "store", "prover"])
      cleanup.add(async () => {
        ran.push(name);
        if (name !== "lock") throw new Error(`the ${name} fails`);
      });
    expect(await cleanup.run().catch(({ message }: Error) => message)).to.equal("the prover fails");
    expect(ran).to.deep.equal(["prover", "store", "lock"]);
    await cleanup.run();
    expect(ran).to.have.length(3);
  });

  it("requires the address's viewing key to open a viewing wallet", async () => {
    const { seed: _, prover: __, ...options } = world.options({ store: new MemoryStore() });
    const keys = wallet.viewingKeys({ lasting: true });
    const open = (changes: object) => () => ViewingWallet.open({ ...options, keys, ...changes });
    const [key] = keys.keys as [ViewingKey];
    const withKey = (change: object) => open({ keys: { ...keys, keys: [{ ...key, ...change }] } });
    await refuses("INVALID_KEY", withKey({ viewingKey: key.viewingKey + 2n }));
    await refuses("INVALID_KEY", withKey({ viewingKey: 2n }));
    await refuses("INVALID_KEY", withKey({ viewingKey: 1n << 255n }));
    await refuses("INVALID_KEY", withKey({ viewingKey: "1" }));
    await refuses("INVALID_KEY", withKey({ shieldedAddress: "" }));
    await refuses("INVALID_KEY", open({ keys: { ownerTag: keys.ownerTag + 1n, keys: [key] } }));
    await refuses("INVALID_OPTION", open({ finality: 1001 }));
    await refuses("STORE_FOREIGN", open({ store }));
  });

  it("fails without a node", async () => {
    const open = (chain: WalletOptions["chain"]) => () =>
      Wallet.open({ ...world.options(), chain, store: new MemoryStore() });
    await refuses("NODE_UNREACHABLE", open(["http://127.0.0.1:9", "http://127.0.0.1:1"]));
    for (const wrong of ["not a url", "", [], "ws://127.0.0.1:8545", "https://me:secret@node.example"])
      expect((await refuses("INVALID_OPTION", open(wrong))).message).not.to.include("secret");
  });
});
