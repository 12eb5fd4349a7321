// A relayer with several accounts: each has its own nonces, and one that fails, is empty or was removed does not stop the others.

import { paymentSignals } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { Web3Signer } from "@sotto/test-kit/web3-signer";
import type { Payment } from "@sotto/test-pool/statements";
import { OTHER_KEY, RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import {
  authorizedDeposit,
  enqueue,
  enqueueDeposit,
  rounds,
  type Service,
  Services,
} from "@sotto/test-world/relayer/service";
import type { RelayerOptions } from "@sotto/verifier-service";
import { expect } from "chai";
import { Contract, Wallet } from "ethers";
import { Children, ended } from "./support/children.ts";
import { remoteAccounts } from "./support/remote-accounts.ts";

type Accounts = RelayerOptions["accounts"];

/** Hardhat's public test account 3. */
const THIRD_KEY = "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6";
const KEYS = [RELAYER_KEY, OTHER_KEY, THIRD_KEY] as const;
const ADDRESSES = KEYS.map((key) => new Wallet(key).address.toLowerCase());
const [FIRST, SECOND, THIRD] = ADDRESSES as [string, string, string];
const accountsOf = (...keys: readonly string[]): Accounts => keys.map((key) => ({ signer: new Wallet(key) }));

describe("a relayer with several accounts", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  let children: Children;
  beforeEach(async () => {
    chain = await TestChain.open();
    services = new Services(chain);
    children = new Children(chain);
  });
  afterEach(async () => {
    children.stopAll();
    await services.stopAll();
    await chain.automine(true);
  });

  const add = async (
    { store }: Pick<Service, "store">,
    count: number,
  ): Promise<{ ids: string[]; payments: Payment[] }> => {
    const payments = await Promise.all(Array.from({ length: count }, () => chain.payment()));
    const ids: string[] = [];
    for (const payment of payments) ids.push(await enqueue(store, payment));
    return { ids, payments };
  };
  const settle = async (
    { relayer }: Service,
    { ids, payments }: Awaited<ReturnType<typeof add>>,
  ): Promise<string[]> => {
    const hashes: string[] = [];
    for (const [index, id] of ids.entries()) {
      const { state, txHash } = await relayer.waitFor(id, WAIT);
      expect(state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payments[index]!.signals).nullifier)).to.deep.equal([txHash]);
      hashes.push(txHash);
    }
    return hashes;
  };
  const sendersOf = async (hashes: readonly string[]) => {
    const found = hashes.map(async (hash) => (await chain.provider.getTransaction(hash))!.from.toLowerCase());
    return new Set(await Promise.all(found));
  };
  const openOf = async ({ store }: Pick<Service, "store">) =>
    (await store.outbox.open()).filter(({ state }) => state === "sent").map(({ sender }) => sender);
  const finished = ({ store }: Pick<Service, "store">) =>
    eventually(async () => (await store.outbox.open()).length === 0);

  it("sends from the one with the fewest transactions under way, each up to its limit", async () => {
    await chain.automine(false);
    const config = { maxBatch: 1, maxInFlight: 2 };
    const service = await services.start({ accounts: accountsOf(...KEYS), config });
    const added = await add(service, 9);
    await eventually(async () => (await openOf(service)).length === 6);
    await rounds(service);
    expect((await openOf(service)).sort()).to.deep.equal(ADDRESSES.flatMap((each) => [each, each]).sort());
    await chain.automine(true);
    await chain.mine();
    expect([...(await sendersOf(await settle(service, added)))].sort()).to.deep.equal([...ADDRESSES].sort());
    for (const id of added.ids) {
      const { gasPaidBy, txHash } = (await service.store.operations.get(id))!;
      expect([...(await sendersOf([txHash!]))]).to.deep.equal([gasPaidBy]);
    }
    expect(service.counts.get("relayer_front_run_total")).to.equal(undefined);
    await finished(service);
  });

  it("sends transactions that are not full from no more at once than one account may, and full ones from all", async () => {
    await chain.automine(false);
    const service = await services.start({
      accounts: accountsOf(...KEYS),
      // Under load, a transaction would count as stuck, and not against the limit.
      config: { maxBatch: 4, maxInFlight: 2, stuckAfter: 600_000 },
    });
    const added: Awaited<ReturnType<typeof add>>[] = [];
    for (const expected of [1, 2, 2]) {
      added.push(await add(service, 1));
      await rounds(service);
      expect(await openOf(service)).to.have.length(expected);
    }
    added.push(await add(service, 8));
    await eventually(async () => (await openOf(service)).length === 4);
    await rounds(service);
    expect(await openOf(service)).to.have.length(4);
    await chain.automine(true);
    await chain.mine();
    for (const each of added) await settle(service, each);
    await finished(service);
  });

  it("shares one gas budget", async () => {
    const service = await services.start({ accounts: accountsOf(...KEYS), config: { maxBatch: 1 } });
    const before = await Promise.all(ADDRESSES.map((address) => chain.provider.getBalance(address)));
    await settle(service, await add(service, 6));
    await finished(service);
    const after = await Promise.all(ADDRESSES.map((address) => chain.provider.getBalance(address)));
    const spent = before.map((balance, index) => balance - after[index]!);
    expect(await service.store.gasToday()).to.equal(spent.reduce((sum, wei) => sum + wei, 0n));
  });

  it("sends nothing from an empty one, and from it again once it has ETH", async () => {
    await chain.rpc("hardhat_setBalance", FIRST, "0x1");
    const service = await services.start({ accounts: accountsOf(RELAYER_KEY, OTHER_KEY), config: { maxBatch: 1 } });
    expect(await sendersOf(await settle(service, await add(service, 3)))).to.deep.equal(new Set([SECOND]));
    await chain.rpc("hardhat_setBalance", SECOND, "0x1");
    await chain.rpc("hardhat_setBalance", FIRST, `0x${(10n ** 20n).toString(16)}`);
    expect(await sendersOf(await settle(service, await add(service, 1)))).to.deep.equal(new Set([FIRST]));
    // Without ETH on any account, payments wait, and are in no transaction that nobody can mine.
    await chain.rpc("hardhat_setBalance", FIRST, "0x1");
    await chain.mine();
    const waiting = await add(service, 1);
    await eventually(
      async () => (await service.store.operations.get(waiting.ids[0]!))?.reason === "RELAYER_BALANCE_LOW",
    );
    expect(await service.store.outbox.open()).to.deep.equal([]);
    await chain.rpc("hardhat_setBalance", SECOND, `0x${(10n ** 20n).toString(16)}`);
    await chain.mine();
    expect(await sendersOf(await settle(service, waiting))).to.deep.equal(new Set([SECOND]));
  });

  it("asks for one estimate in each try while no account can pay, however many payments wait", async () => {
    const node = await FaultyNode.start(chain.node.url);
    closedAfterTest({ close: () => node.stop() });
    const full = `0x${(10n ** 20n).toString(16)}`;
    for (const address of [FIRST, SECOND]) await chain.rpc("hardhat_setBalance", address, "0x1");
    // The dispatcher pauses after a refused estimate, as those from an account without ETH are. This account has ETH, and sends nothing.
    const draining = accountsOf(THIRD_KEY).map((account) => ({ ...account, isDraining: true }));
    const accounts = [...draining, ...accountsOf(RELAYER_KEY, OTHER_KEY)];
    const service = await services.open({ accounts, urls: [node.url] });
    await add(service, 16);
    service.relayer.start();
    const tries = () => service.log.filter(({ fields }) => fields["reason"] === "RELAYER_BALANCE_LOW").length;
    await eventually(async () => tries() >= 3);
    await services.stop(service);
    expect(node.asked.get("eth_estimateGas")).to.equal(tries());
    for (const address of [FIRST, SECOND]) await chain.rpc("hardhat_setBalance", address, full);
  });

  it("sends from the others while the signer of one fails, and shows its code", async () => {
    const signer = closedAfterTest(await Web3Signer.start([RELAYER_KEY]));
    const accounts = [...remoteAccounts(signer.url, [FIRST]), ...accountsOf(OTHER_KEY)];
    const service = await services.start({ accounts, config: { maxBatch: 1 } });
    await settle(service, await add(service, 2));
    for (const [code, fail] of [
      ["SIGNER_MISMATCH", () => Object.assign(signer, { forgery: "data" })],
      ["SIGNER_REFUSED", () => Object.assign(signer, { forgery: undefined, cannotSign: true })],
    ] as const) {
      fail();
      expect(await sendersOf(await settle(service, await add(service, 6)))).to.deep.equal(new Set([SECOND]));
      const faults = async () =>
        (await service.relayer.status()).accounts.map(({ address, fault }) => [address, fault]);
      // The signer is asked again only after a pause.
      await eventually(async () => {
        await settle(service, await add(service, 1));
        return (
          JSON.stringify(await faults()) ===
          JSON.stringify([
            [FIRST, code],
            [SECOND, undefined],
          ])
        );
      });
    }
    signer.cannotSign = false;
    await eventually(async () => {
      const senders = await sendersOf(await settle(service, await add(service, 4)));
      return senders.has(FIRST);
    });
    expect([...(await service.relayer.checkSigners()).values()]).to.deep.equal([undefined, undefined]);
  });

  it("sends nothing new from a draining one, and still replaces what it has sent", async () => {
    const storeUrl = services.newStoreUrl();
    await chain.automine(false);
    const before = await services.start({ storeUrl, accounts: accountsOf(RELAYER_KEY) });
    const first = await add(before, 1);
    await eventually(async () => (await openOf(before)).length === 1);
    await services.stop(before);
    const accounts = [{ signer: new Wallet(RELAYER_KEY), isDraining: true }, ...accountsOf(OTHER_KEY)];
    const service = await services.start({ storeUrl, accounts, config: { stuckAfter: 300 } });
    await eventually(async () => (service.counts.get("relayer_replacements_total") ?? 0) > 0);
    const second = await add(service, 3);
    await eventually(async () => (await openOf(service)).length === 2);
    const roles = async () =>
      (await service.relayer.status()).accounts.map(({ address, role, open }) => [address, role, open]);
    expect(await roles()).to.deep.equal([
      [FIRST, "draining", 1],
      [SECOND, "active", 1],
    ]);
    await chain.automine(true);
    await chain.mine();
    expect(await sendersOf(await settle(service, first))).to.deep.equal(new Set([FIRST]));
    expect(await sendersOf(await settle(service, second))).to.deep.equal(new Set([SECOND]));
    await finished(service);
    expect(await roles()).to.deep.equal([
      [FIRST, "draining", 0],
      [SECOND, "active", 0],
    ]);
  });

  it("tracks the transactions of a removed one until they are final", async () => {
    const storeUrl = services.newStoreUrl();
    await chain.automine(false);
    const before = await services.start({ storeUrl, accounts: accountsOf(RELAYER_KEY) });
    const first = await add(before, 2);
    await eventually(async () => (await openOf(before)).length > 0);
    await services.stop(before);
    const service = await services.start({ storeUrl, accounts: accountsOf(OTHER_KEY), config: { stuckAfter: 60_000 } });
    const second = await add(service, 1);
    await eventually(async () => (await openOf(service)).includes(SECOND));
    const { accounts } = await service.relayer.status();
    expect(accounts.map(({ address, role }) => [address, role])).to.deep.equal([
      [SECOND, "active"],
      [FIRST, "former"],
    ]);
    await chain.automine(true);
    await chain.mine();
    expect(await sendersOf(await settle(service, first))).to.deep.equal(new Set([FIRST]));
    expect(await sendersOf(await settle(service, second))).to.deep.equal(new Set([SECOND]));
    await finished(service);
    expect((await service.relayer.status()).accounts).to.have.length(1);
  });

  it("sends the payments of a removed one from another if its transaction is never mined; both together pay once", async () => {
    const storeUrl = services.newStoreUrl();
    await chain.automine(false);
    const before = await services.start({ storeUrl, accounts: accountsOf(RELAYER_KEY) });
    const added = await add(before, 2);
    const [lost] = await eventually(async () => {
      const open = await before.store.outbox.open();
      return open.length > 0 && open;
    });
    const { raw, hash } = lost!.attempts.at(-1)!;
    await services.stop(before);
    expect(await chain.rpc("hardhat_dropTransaction", hash)).to.equal(true);
    const balance = await chain.rpc("eth_getBalance", FIRST, "latest");
    await chain.rpc("hardhat_setBalance", FIRST, "0x1");
    await chain.automine(true);
    const config = { stuckAfter: 300, rebroadcastAfter: 100 };
    const service = await services.start({ storeUrl, accounts: accountsOf(OTHER_KEY), config });
    expect(await sendersOf(await settle(service, added))).to.deep.equal(new Set([SECOND]));
    await finished(service);
    expect(service.log.some(({ message }) => message.startsWith("given up"))).to.equal(true);
    // The first transaction is mined after all.
    await chain.rpc("hardhat_setBalance", FIRST, balance);
    await chain.rpc("eth_sendRawTransaction", raw);
    expect((await chain.provider.getTransactionReceipt(hash))?.status).to.equal(1);
    await rounds(service);
    await settle(service, added);
  });

  it("fails no deposit while its transaction, which was given up, may still be mined", async () => {
    const storeUrl = services.newStoreUrl();
    const account = new Wallet(Wallet.createRandom().privateKey, chain.provider);
    await (await chain.token.getFunction("mint")(account.address, 1_000_000n)).wait();
    await chain.automine(false);
    const before = await services.start({ storeUrl, accounts: accountsOf(RELAYER_KEY) });
    const id = await enqueueDeposit(before.store, await authorizedDeposit(chain, account, [1_000_000n]));
    const [lost] = await eventually(async () => {
      const open = await before.store.outbox.open();
      return open.length > 0 && open;
    });
    const { raw, hash } = lost!.attempts.at(-1)!;
    await services.stop(before);
    expect(await chain.rpc("hardhat_dropTransaction", hash)).to.equal(true);
    const gas = await chain.rpc("eth_getBalance", FIRST, "latest");
    await chain.rpc("hardhat_setBalance", FIRST, "0x1");
    await chain.automine(true);
    // Without its tokens, simulations of the deposit revert.
    await chain.rpc("hardhat_setBalance", account.address, "0xde0b6b3a7640000");
    const token = new Contract(chain.deployment.token, ["function transfer(address, uint256)"], account);
    await (await token.getFunction("transfer")(ADDRESSES[2], 1_000_000n)).wait();
    const config = { stuckAfter: 100, rebroadcastAfter: 100, blockSeconds: 0.1 };
    const service = await services.start({ storeUrl, accounts: accountsOf(OTHER_KEY), config });
    const deferred = () => service.log.filter(({ fields }) => fields["reason"] === "REVERTED").length;
    for (let count = 1; count <= 5; count += 1) {
      await eventually(async () => deferred() >= count);
      await chain.mine();
    }
    await rounds(service);
    expect(await service.store.operations.get(id)).to.include({ state: "queued", reverts: 2 });
    // The first transaction is mined after all.
    await (await chain.token.getFunction("mint")(account.address, 1_000_000n)).wait();
    await chain.rpc("hardhat_setBalance", FIRST, gas);
    await chain.rpc("eth_sendRawTransaction", raw);
    expect((await service.relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });

  it("sends appends from one account until none is under way, and then from the next one if that one is draining", async () => {
    const config = { append: true, appendAfter: 0 };
    const storeUrl = services.newStoreUrl();
    const before = await services.start({ storeUrl, accounts: accountsOf(...KEYS), config });
    const size = async () => Number((await chain.pool.getFunction("queue")()).size);
    const appended = async (end: number) =>
      eventually(async () => Number((await chain.pool.getFunction("queue")()).appended) === end);
    await appended(await size());
    const start = await chain.provider.getBlockNumber();
    for (let i = 0; i < 4; i += 1) await chain.deposit(Array.from({ length: 64 }, () => 20_000n));
    await appended(await size());
    await services.stop(before);
    const middle = await chain.provider.getBlockNumber();
    const draining = accountsOf(...KEYS).map((account, index) => ({ ...account, isDraining: index === 0 }));
    await services.start({ storeUrl, accounts: draining, config });
    await chain.deposit();
    await appended(await size());
    const senders = async (from: number, to: number) => {
      const events = await chain.pool.queryFilter(chain.pool.getEvent("Appended"), from + 1, to);
      return sendersOf(events.map(({ transactionHash }) => transactionHash));
    };
    expect(await senders(start, middle)).to.deep.equal(new Set([FIRST]));
    expect(await senders(middle, await chain.provider.getBlockNumber())).to.deep.equal(new Set([SECOND]));
  });

  it("fills gaps in the nonces of each", async () => {
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    for (const key of [OTHER_KEY, THIRD_KEY])
      await (await new Wallet(key, chain.provider).sendTransaction({ to: FIRST })).wait();
    const config = { maxBatch: 1, rebroadcastAfter: 100 };
    const service = await services.start({ accounts: accountsOf(OTHER_KEY, THIRD_KEY), config });
    await chain.automine(false);
    const added = await add(service, 2);
    await eventually(async () => (await openOf(service)).length === 2);
    expect(new Set(await openOf(service))).to.deep.equal(new Set([SECOND, THIRD]));
    await chain.automine(true);
    await chain.mine();
    await settle(service, added);
    // A reorganization removes the other program's transactions, so those after them cannot be mined.
    await chain.rpc("evm_revert", snapshot);
    await chain.mine(3);
    const nullifiers = added.payments.map(({ signals }) => paymentSignals(signals).nullifier);
    await eventually(async () => {
      const found = await Promise.all(nullifiers.map((nullifier) => chain.settlements(nullifier)));
      return found.every(({ length }) => length === 1);
    });
    await settle(service, added);
    await finished(service);
  });

  it("loses and doubles nothing when it is killed at any point", async () => {
    const storeUrl = services.newStoreUrl();
    const opened = await services.open({ storeUrl });
    const config = { maxBatch: 2, rebroadcastAfter: 300 };
    const first = await add(opened, 12);
    const nonces = () => Promise.all(ADDRESSES.map((address) => chain.provider.getTransactionCount(address)));
    const before = await nonces();
    for (const fault of [
      { point: "outbox.record", when: "after" },
      { point: "send", when: "after" },
      { point: "outbox.mined", when: "before" },
      { point: "outbox.final", when: "before" },
      { point: "operations.settled", when: "inside" },
    ] as const)
      expect(await ended(children.fork({ storeUrl, fault, config, keys: KEYS }))).to.equal("SIGKILL");
    const service = await services.start({ storeUrl, config, accounts: accountsOf(...KEYS) });
    const hashes = await settle(service, first);
    await finished(service);
    const after = await nonces();
    const sent = after.reduce((sum, count, index) => sum + count - before[index]!, 0);
    expect(sent).to.equal(new Set(hashes).size);
    expect((await sendersOf(hashes)).size).to.be.greaterThan(1);
  });

  it("refuses no, too many, equal and only draining accounts", async () => {
    const draining = accountsOf(RELAYER_KEY).map((account) => ({ ...account, isDraining: true }));
    const many = Array.from({ length: 17 }, () => ({ signer: new Wallet(Wallet.createRandom().privateKey) }));
    for (const accounts of [[], accountsOf(RELAYER_KEY, RELAYER_KEY), many, draining]) {
      const code = await services.open({ accounts }).then(
        () => "opened",
        (error: { code?: string }) => error.code,
      );
      expect(code).to.equal("INVALID_RELAYER_OPTION");
    }
    await services.open({ accounts: many.slice(1) });
  });
});
