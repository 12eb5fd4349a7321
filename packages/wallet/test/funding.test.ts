// Deposits through a service: an interrupted deposit resumes with its signature and executes once.

import { CallReverted, type Log, type LogQuery } from "@sotto/chain";
import { depositWithAuthorizationCall, tokenInterface } from "@sotto/chain/ethers";
import { randomSeed } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { type FundOptions, MemoryStore, type Store, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Signature, TypedDataEncoder } from "ethers";
import { LocalService } from "./support/local-service.ts";
import { nodeOf } from "./support/several-nodes.ts";
import { dyingStore, World } from "./support/world.ts";

const HELD = 1_000_000n;
const AMOUNT = 40_000n;
/** The token's function for signatures of keys. */
const KEYS = "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";

describe("funding a wallet", () => {
  let world: World;
  let service: LocalService;
  let account: Account;
  /** Number of times the account was asked to sign. */
  let signed: number;
  const signer = {
    getAddress: () => account.getAddress(),
    signTypedData: (...typed: Parameters<Account["signTypedData"]>) => {
      signed += 1;
      return account.signTypedData(...typed);
    },
  };
  beforeEach(() => {
    world = new World();
    service = new LocalService(world);
    account = new Account(`0x${"77".repeat(32)}`);
    world.token.mint(account.address, HELD);
    signed = 0;
  });
  const spent = () => HELD - world.token.balanceOf(account.address);
  const options = (changes: Partial<FundOptions> = {}): FundOptions => ({
    amount: AMOUNT,
    account: signer,
    service: service.client,
    ...changes,
  });
  /** Mines the last submitted deposit without the service. */
  const mineElsewhere = (body: unknown) => world.chain.mine(depositWithAuthorizationCall(body as never));
  const passTime = (seconds: number) => {
    world.chain.time += seconds;
    world.chain.mine();
  };

  it("deposits notes that can be spent, and reports its stages", async () => {
    const wallet = await world.wallet();
    const stages: string[] = [];
    const funded = await wallet.fund(
      options({
        amount: undefined,
        amounts: [30_000n, 10_000n],
        onProgress: ({ stage, id, transaction }) =>
          stages.push(`${stage} ${id !== undefined} ${transaction !== undefined}`),
      }),
    );
    expect(stages).to.deep.equal(["signing false false", "submitting true false", "spendable true true"]);
    expect(funded.amounts).to.deep.equal([30_000n, 10_000n]);
    const { transactionHash, blockNumber } = wallet.notes()[0]!;
    expect(funded).to.include({ transaction: transactionHash, block: blockNumber });
    expect(wallet.balance()).to.include({ spendable: AMOUNT, total: AMOUNT });
    expect(spent()).to.equal(AMOUNT);
    expect(await wallet.unfinishedDeposits()).to.deep.equal([]);
    expect((await wallet.store.list("fund/")).length).to.equal(0);
  });

  it("deposits once if the process dies before or after any write to its store", async () => {
    let died = 0;
    for (const after of [false, true])
      for (let writes = 0; ; writes += 1) {
        const disk = new MemoryStore();
        const seed = randomSeed();
        const before = spent();
        const first = await world.wallet({ seed, store: disk });
        await first.scan();
        const dying = await world.wallet({ seed, store: dyingStore(disk, writes, after) }).catch(() => undefined);
        const outcome = await dying?.fund(options()).then(
          () => "funded",
          ({ message }: Error) => message,
        );
        if (outcome === "funded") break;
        died += 1;
        if (outcome !== undefined) expect(outcome).to.equal("the process died");
        const deposited = spent() > before;
        const open = (await disk.list("fund/")).length > 0;
        signed = 0;
        const second = await world.wallet({ seed, store: disk });
        // The last write deletes the record of a finished deposit: nothing is left to resume.
        if (!deposited || open) await second.fund(options());
        else await second.scan();
        expect(signed, `write ${writes}`).to.equal(open || deposited ? 0 : 1);
        expect(spent() - before, `write ${writes}`).to.equal(AMOUNT);
        expect(second.balance().spendable).to.equal(AMOUNT);
        expect(await second.unfinishedDeposits()).to.deep.equal([]);
      }
    expect(died).to.be.greaterThan(4);
  });

  it("resumes without a signature if the service's response was lost", async () => {
    const wallet = await world.wallet();
    let lost = 0;
    service.before = async (path, body) => {
      if (lost > 0) return undefined;
      await service.answer(path, body);
      lost += 1;
      return { httpStatus: 400, code: "PROXY" };
    };
    // The deposit is on chain, so the failed response does not matter.
    await wallet.fund(options());
    expect([lost, signed, spent()]).to.deep.equal([1, 1, AMOUNT]);
  });

  it("resumes a deposit that the service refused, with the same authorization", async () => {
    const wallet = await world.wallet();
    const salts: unknown[] = [];
    let refuse = true;
    service.before = (_, { salt }) => {
      salts.push(salt);
      return refuse ? { httpStatus: 429, code: "QUOTA_EXCEEDED" } : undefined;
    };
    expect((await rejection(wallet.fund(options()))).code).to.equal("SERVICE_REFUSED");
    const [left] = await wallet.unfinishedDeposits();
    expect(left).to.deep.include({ account: account.address.toLowerCase(), amounts: [AMOUNT], transaction: undefined });
    refuse = false;
    const funded = await wallet.resumeDeposit(left!.id, { service: service.client });
    expect(funded).to.include({ id: left!.id });
    expect(new Set(salts).size).to.equal(1);
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
    expect((await rejection(wallet.resumeDeposit(left!.id, { service: service.client }))).code).to.equal(
      "UNKNOWN_DEPOSIT",
    );
  });

  it("finds a deposit that someone else submitted, without the service", async () => {
    const wallet = await world.wallet();
    let body: unknown;
    service.before = (_, sent) => {
      body = sent;
      throw new TypeError("fetch failed");
    };
    expect((await rejection(wallet.fund(options()))).code).to.equal("SERVICE_UNREACHABLE");
    mineElsewhere(body);
    await world.append();
    expect((await wallet.fund(options())).transaction).to.match(/^0x[0-9a-f]{64}$/);
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
  });

  it("signs another deposit only if the first can no longer be executed", async () => {
    const wallet = await world.wallet();
    const bodies: unknown[] = [];
    let down = true;
    service.before = (_, body) => {
      bodies.push(body);
      if (down) throw new TypeError("fetch failed");
      return undefined;
    };
    await rejection(wallet.fund(options({ validFor: 600 })));
    passTime(500);
    await rejection(wallet.fund(options()));
    expect(signed).to.equal(1);
    const [left] = await wallet.unfinishedDeposits();
    passTime(100);
    await wallet.scan();
    expect(await wallet.unfinishedDeposits()).to.deep.equal([]);
    const expired = await rejection(wallet.resumeDeposit(left!.id, { service: service.client }));
    expect([expired.code, spent()]).to.deep.equal(["DEPOSIT_EXPIRED", 0n]);
    down = false;
    await wallet.fund(options());
    expect([signed, spent()]).to.deep.equal([2, AMOUNT]);
    expect(() => mineElsewhere(bodies[0])).to.throw("not valid now");
    expect((await wallet.store.list("fund/")).length).to.equal(0);
  });

  it("deposits once if the process dies while replacing an expired deposit", async () => {
    let died = 0;
    for (const after of [false, true])
      for (let writes = 0; ; writes += 1) {
        const disk = new MemoryStore();
        const seed = randomSeed();
        const before = spent();
        service.before = () => ({ httpStatus: 429, code: "QUOTA_EXCEEDED" });
        await rejection((await world.wallet({ seed, store: disk })).fund(options({ validFor: 60 })));
        service.before = () => undefined;
        passTime(60);
        const dying = await world.wallet({ seed, store: dyingStore(disk, writes, after) }).catch(() => undefined);
        const outcome = await dying?.fund(options()).catch(({ message }: Error) => message);
        if (typeof outcome === "object") break;
        died += 1;
        const second = await world.wallet({ seed, store: disk });
        await second.scan();
        // The last write deletes the record of a finished deposit: nothing is left to resume.
        if (spent() === before) await second.fund(options());
        for (const { id } of await second.unfinishedDeposits())
          await second.resumeDeposit(id, { service: service.client });
        expect(spent() - before, `write ${writes}`).to.equal(AMOUNT);
      }
    expect(died).to.be.greaterThan(4);
  });

  it("waits for a block that proves that a deposit expired, except on a local chain", async () => {
    for (const [chainId, signatures] of [
      [31_337n, 2],
      [11_155_111n, 1],
    ] as const) {
      world = new World();
      service = new LocalService(world);
      world.token.mint(account.address, HELD);
      world.chain.id = chainId;
      world.token.domain.chainId = chainId;
      world.token.separator = TypedDataEncoder.hashDomain(world.token.domain);
      signed = 0;
      let now = world.clock();
      const wallet = await world.wallet({ chainId, prover: undefined, clock: () => now });
      service.before = () => ({ httpStatus: 422, code: "EXPIRED" });
      await rejection(wallet.fund(options()));
      // The clock alone proves nothing.
      now += 7_200_000;
      await rejection(wallet.fund(options()));
      expect(signed).to.equal(1);
      // Hours later, the chain has no new block.
      world.chain.time += 7_200;
      await rejection(wallet.fund(options()));
      expect(signed, String(chainId)).to.equal(signatures);
    }
  });

  it("makes two deposits for two equal concurrent calls", async () => {
    const wallet = await world.wallet();
    const both = await Promise.all([wallet.fund(options()), wallet.fund(options())]);
    expect(both[0].transaction).not.to.equal(both[1].transaction);
    expect(spent()).to.equal(2n * AMOUNT);
  });

  it("deposits once under a key, forever", async () => {
    const seed = randomSeed();
    const store = new MemoryStore();
    const wallet = await world.wallet({ seed, store });
    const key = "salary of May";
    const running = wallet.fund(options({ key }));
    expect((await rejection(wallet.fund(options({ key })))).code).to.equal("DEPOSIT_IN_PROGRESS");
    const first = await running;
    const again = await world.wallet({ seed, store });
    expect(await again.fund(options({ key }))).to.deep.equal(first);
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
    expect((await rejection(again.fund(options({ key, amount: 2n * AMOUNT })))).code).to.equal("DEPOSIT_MISMATCH");
    expect(await again.unfinishedDeposits()).to.deep.equal([]);
    await again.fund(options({ key: "salary of June" }));
    expect(spent()).to.equal(2n * AMOUNT);
  });

  it("stops when aborted, and resumes", async () => {
    const wallet = await world.wallet();
    const reason = new Error("the user pressed stop");
    const ending = new AbortController();
    service.appends = false;
    const stopped = wallet.fund(
      options({ signal: ending.signal, onProgress: ({ stage }) => stage === "appending" && ending.abort(reason) }),
    );
    expect(await stopped.catch((error: unknown) => error)).to.equal(reason);
    await world.append();
    await wallet.fund(options());
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
  });

  it("sends nothing if aborted while the account is asked to sign", async () => {
    const wallet = await world.wallet();
    const reason = new Error("the user pressed stop");
    const ending = new AbortController();
    const slow = { ...signer, signTypedData: () => new Promise<string>(() => ending.abort(reason)) };
    const stopped = wallet.fund(options({ account: slow, signal: ending.signal }));
    expect(await stopped.catch((error: unknown) => error)).to.equal(reason);
    expect(service.asked).to.deep.equal([]);
    expect(await wallet.unfinishedDeposits()).to.deep.equal([]);
  });

  it("ends when the wallet is closed", async () => {
    const wallet = await world.wallet();
    service.appends = false;
    let closed: Promise<void> | undefined;
    const running = wallet.fund(
      options({
        onProgress: ({ stage }) => {
          if (stage === "appending") closed = wallet.close();
        },
      }),
    );
    expect((await rejection(running)).code).to.equal("WALLET_CLOSED");
    await closed;
    expect((await rejection(wallet.fund(options()))).code).to.equal("WALLET_CLOSED");
  });

  it("reports what the notes are waiting for if they are not spendable in time", async () => {
    const wallet = await world.wallet();
    service.appends = false;
    const late = await rejection(wallet.fund(options({ timeoutMs: 1 })));
    expect(late.code).to.equal("TIMED_OUT");
    expect(late.message).to.contain("40000 base units wait for a relayer to append them to the tree");
    expect(late.details).to.include({ cause: "APPEND", transaction: wallet.notes()[0]!.transactionHash });
    const [left] = await wallet.unfinishedDeposits();
    expect(left?.transaction).to.equal(wallet.notes()[0]!.transactionHash);
    await world.append();
    await wallet.fund(options());
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
  });

  it("returns before the append if requested", async () => {
    const wallet = await world.wallet();
    service.appends = false;
    await wallet.fund(options({ until: "deposited" }));
    expect(wallet.balance()).to.include({ queued: AMOUNT, spendable: 0n });
    expect(await wallet.unfinishedDeposits()).to.deep.equal([]);
  });

  it("does not trust a service that claims a deposit", async () => {
    const wallet = await world.wallet();
    service.before = () => ({
      status: "success",
      txSignature: `0x${"12".repeat(32)}`,
      blockNumber: 1,
      gasFeePaidBy: "0x",
    });
    const lie = await rejection(wallet.fund(options({ timeoutMs: 300 })));
    expect([lie.code, spent()]).to.deep.equal(["TIMED_OUT", 0n]);
    expect(lie.message).to.contain("the node does not show it");
    expect(await wallet.unfinishedDeposits()).to.have.length(1);
  });

  it("survives a reorganization that removes the deposit", async () => {
    const wallet = await world.wallet({ finality: 2 });
    // A block in which the account has its tokens.
    world.chain.mine();
    service.appends = false;
    const late = await rejection(wallet.fund(options({ timeoutMs: 1 })));
    expect(late).to.include({ code: "TIMED_OUT" });
    expect(late.details).to.include({ cause: "NO_BLOCKS" });
    world.chain.takeBack(1);
    world.chain.mineMany(3);
    service = new LocalService(world);
    const funded = wallet.fund(options({ timeoutMs: 1 }));
    expect((await rejection(funded)).details).to.include({ cause: "NO_BLOCKS" });
    expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
  });

  describe("a deposit that returned before its notes were in the tree", () => {
    const FINALITY = 2;
    let seed: Uint8Array;
    let disk: MemoryStore;
    let height: number;
    const deposited = (changes: Partial<FundOptions> = {}) => options({ until: "deposited", ...changes });
    const open = (store: Store = disk) => world.wallet({ seed, store, finality: FINALITY });
    const records = async () => (await disk.list("fund/")).length;
    /** Removes the blocks since `height`. The new service has no record of the deposits. */
    const reorganize = () => {
      world.chain.takeBack(world.chain.height - height);
      world.chain.mine();
      service = new LocalService(world);
      service.appends = false;
    };
    const begin = () => {
      seed = randomSeed();
      disk = new MemoryStore();
      service.appends = false;
      // A block in which the account has its tokens.
      world.chain.mine();
      height = world.chain.height;
    };
    beforeEach(begin);

    it("keeps its record until they are in the tree, and is not resumed by an equal call", async () => {
      const wallet = await open();
      const first = await wallet.fund(deposited());
      expect([await records(), await wallet.unfinishedDeposits()]).to.deep.equal([1, []]);
      expect(await wallet.resumeDeposit(first.id, { service: service.client })).to.deep.equal(first);
      const second = await wallet.fund(deposited());
      expect(second.id).not.to.equal(first.id);
      expect([signed, spent(), await records()]).to.deep.equal([2, 2n * AMOUNT, 2]);
      world.chain.mineMany(FINALITY);
      await wallet.scan();
      // Confirmed but not in the tree: no root proves what the node reports.
      expect([wallet.balance().queued, await records()]).to.deep.equal([2n * AMOUNT, 2]);
      await world.append();
      world.chain.mineMany(FINALITY);
      await (await open()).scan();
      expect(await records()).to.equal(0);
      const late = await rejection(wallet.resumeDeposit(second.id, { service: service.client }));
      expect(late.code).to.equal("UNKNOWN_DEPOSIT");
    });

    it("is resumed without another signature after a reorganization removed its notes", async () => {
      const first = await (await open()).fund(deposited());
      reorganize();
      const wallet = await open();
      await wallet.scan();
      expect((await wallet.unfinishedDeposits()).map(({ id }) => id)).to.deep.equal([first.id]);
      const again = await wallet.fund(deposited());
      expect(again.id).to.equal(first.id);
      expect(again.transaction).not.to.equal(first.transaction);
      expect([signed, spent(), await wallet.unfinishedDeposits()]).to.deep.equal([1, AMOUNT, []]);
      await world.append();
      world.chain.mineMany(FINALITY);
      await wallet.scan();
      expect([await records(), wallet.balance().total]).to.deep.equal([0, AMOUNT]);
    });

    it("is replaced only when the removed deposit can no longer be executed", async () => {
      let body: unknown;
      service.before = (_, sent) => {
        body = sent;
        return undefined;
      };
      const wallet = await open();
      await wallet.fund(deposited({ validFor: 600 }));
      reorganize();
      service.before = () => ({ httpStatus: 429, code: "QUOTA_EXCEEDED" });
      passTime(560);
      expect((await rejection(wallet.fund(deposited()))).code).to.equal("SERVICE_REFUSED");
      expect(signed).to.equal(1);
      passTime(40);
      world.chain.mineMany(FINALITY);
      service.before = () => undefined;
      await wallet.fund(deposited());
      expect(() => mineElsewhere(body)).to.throw("not valid now");
      expect([signed, spent(), await records()]).to.deep.equal([2, AMOUNT, 1]);
    });

    it("is executed once if the process dies before or after any write and a reorganization follows", async () => {
      let died = 0;
      for (const after of [false, true])
        for (let writes = 0; ; writes += 1) {
          begin();
          const before = spent();
          const salts = new Set<unknown>();
          const watch = () => {
            service.before = (_, { salt }) => void salts.add(salt);
          };
          watch();
          const dying = await open(dyingStore(disk, writes, after)).catch(() => undefined);
          const outcome = await dying?.fund(deposited()).catch(({ message }: Error) => message);
          if (typeof outcome === "string") expect(outcome).to.equal("the process died");
          reorganize();
          watch();
          const wallet = await open();
          await wallet.fund(deposited());
          // Two authorizations could both be executed.
          expect([spent() - before, salts.size], `write ${writes}`).to.deep.equal([AMOUNT, 1]);
          await world.append();
          world.chain.mineMany(FINALITY);
          await wallet.scan();
          expect([await records(), wallet.balance().total], `write ${writes}`).to.deep.equal([0, AMOUNT]);
          if (typeof outcome === "object") break;
          died += 1;
        }
      expect(died).to.be.greaterThan(4);
    });

    it("is executed once under its key, forever", async () => {
      const key = "salary of May";
      const first = await (await open()).fund(deposited({ key }));
      reorganize();
      const wallet = await open();
      const again = await wallet.fund(deposited({ key }));
      expect(again).to.include({ id: first.id });
      expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
      await world.append();
      world.chain.mineMany(FINALITY);
      await wallet.scan();
      // The wallet does not deposit again even if a node hides the confirmed notes.
      const other = await world.wallet({ seed, store: await withoutScan(disk), finality: FINALITY });
      world.chain.takeBack(world.chain.height - height);
      world.chain.mineMany(FINALITY);
      passTime(7_200);
      expect(await other.fund(deposited({ key }))).to.deep.equal(again);
      expect(signed).to.equal(1);
    });

    it("is resumed if the node had invented its notes", async () => {
      let invented: Log[] = [];
      const logs = async (query: LogQuery) => {
        const within = invented.filter(({ blockNumber }) => query.from <= blockNumber && blockNumber <= query.to);
        return [...(await world.chain.logs(query)), ...within];
      };
      const wallet = await world.wallet({ seed, store: disk, chain: nodeOf(world.chain, { logs }) });
      service.before = async (_, body) => {
        // The log of the block that would execute the deposit.
        const block = mineElsewhere(body);
        world.chain.takeBack(1);
        const { number: blockNumber, hash: blockHash, timestamp } = world.chain.mine();
        invented = block.logs.map((log) => ({ ...log, blockNumber, blockHash, timestamp }));
        const { transactionHash: txSignature } = block.logs[0]!;
        return { status: "success", txSignature, blockNumber, gasFeePaidBy: "0x" };
      };
      const first = await wallet.fund(deposited());
      expect([spent(), wallet.balance().queued, await wallet.unfinishedDeposits()]).to.deep.equal([0n, AMOUNT, []]);
      invented = [];
      service.before = () => undefined;
      // Another deposit takes the leaf of the invented deposit.
      await world.deposit(await world.wallet(), [AMOUNT]);
      await world.append();
      await wallet.scan().catch(() => undefined);
      await wallet.scan();
      expect((await wallet.unfinishedDeposits()).map(({ id }) => id)).to.deep.equal([first.id]);
      expect((await wallet.fund(deposited())).id).to.equal(first.id);
      expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
    });

    it("does not trust a service that claims the removed deposit", async () => {
      const wallet = await open();
      const first = await wallet.fund(deposited());
      const { transaction, block } = first;
      reorganize();
      service.before = () => ({
        status: "success",
        txSignature: transaction,
        blockNumber: block,
        gasFeePaidBy: "0x",
      });
      const lie = await rejection(wallet.fund(deposited({ timeoutMs: 300 })));
      expect(lie.code).to.equal("TIMED_OUT");
      expect((await wallet.unfinishedDeposits()).map(({ id }) => id)).to.deep.equal([first.id]);
      service.before = () => undefined;
      expect((await wallet.fund(deposited())).id).to.equal(first.id);
      expect([signed, spent()]).to.deep.equal([1, AMOUNT]);
    });
  });

  describe("of a smart account", () => {
    const smart = `0x${"5a".repeat(20)}`;
    const signs = (signature: unknown) => ({
      getAddress: async () => smart,
      signTypedData: async () => signature as string,
    });
    beforeEach(() => world.token.mint(smart, HELD));

    it("submits the signature as the account made it", async () => {
      const [wallet, signature] = [await world.wallet(), `0x${"12".repeat(195)}`];
      world.token.accounts.set(smart, signature);
      let body: Record<string, unknown> = {};
      service.before = (_, sent) => {
        body = sent;
        return undefined;
      };
      await wallet.fund(options({ account: signs(signature.toUpperCase().replace("0X", "0x")) }));
      expect(body).to.include({ from: smart, signature });
      expect(body).to.not.have.any.keys("v", "r", "s");
      expect([world.token.balanceOf(smart), wallet.balance().spendable]).to.deep.equal([HELD - AMOUNT, AMOUNT]);
    });

    it("submits nothing that the token refuses, and nothing unusable", async () => {
      const wallet = await world.wallet();
      world.token.accounts.set(smart, "0x01");
      const cases: [unknown, RegExp][] = [
        ["0x02", /^the account 0x5a\S+ signed the deposit, but the token would refuse it$/],
        [`0x${"12".repeat(195)}`, /the token would refuse it$/],
        [`0x01${"6492".repeat(16)}`, /is not deployed yet \(EIP-6492\): deploy it, then deposit$/],
        [`0x${"01".repeat(2049)}`, /the signature has 2049 bytes, and at most 2048 are accepted$/],
        ["0x", /is not bytes as hex with 0x$/],
        ["0x1", /is not bytes as hex with 0x$/],
        [undefined, /is not bytes as hex with 0x$/],
      ];
      for (const [signature, problem] of cases) {
        const refused = await rejection(wallet.fund(options({ account: signs(signature) })));
        expect(refused.code).to.equal("DEPOSIT_REFUSED");
        expect(refused.message).to.match(problem);
      }
      expect([service.asked, await wallet.unfinishedDeposits()]).to.deep.equal([[], []]);
      await wallet.fund(options({ account: signs("0x01") }));
      expect(world.token.balanceOf(smart)).to.equal(HELD - AMOUNT);
    });

    it("lets no node submit a deposit before it is stored", async () => {
      const wallet = await world.wallet();
      const seen: string[] = [];
      let lies = true;
      const call = world.chain.call.bind(world.chain);
      world.chain.call = async (asked, block) => {
        seen.push(asked.data);
        if (lies && asked.from === world.pool.address) throw new CallReverted("0x");
        return call(asked, block);
      };
      expect((await rejection(wallet.fund(options()))).code).to.equal("DEPOSIT_REFUSED");
      lies = false;
      let body: Record<string, unknown> = {};
      service.before = (_, sent) => {
        body = sent;
        return undefined;
      };
      await wallet.fund(options());
      const redeem = tokenInterface.getFunction(KEYS)!.selector;
      expect(signed).to.equal(2);
      expect(seen.filter((data) => data.startsWith(redeem)).length).to.be.at.least(2);
      const submit = depositWithAuthorizationCall(body as never).data.slice(0, 10);
      const [salt, tag] = [String(body["salt"]).slice(2), BigInt((body["ownerTags"] as string[])[0]!).toString(16)];
      expect(seen.filter((data) => data.startsWith(submit) || data.includes(salt) || data.includes(tag))).to.deep.equal(
        [],
      );
    });

    it("gives a key's signature its canonical form", async () => {
      const wallet = await world.wallet();
      let body: Record<string, unknown> = {};
      service.before = (_, sent) => {
        body = sent;
        return undefined;
      };
      const forms = [
        (signature: string) => Signature.from(signature).compactSerialized,
        (signature: string) => `${signature.slice(0, -2)}0${Signature.from(signature).yParity}`,
      ];
      for (const form of forms) {
        const signTypedData = async (...typed: Parameters<Account["signTypedData"]>) =>
          form(await account.signTypedData(...typed));
        await wallet.fund(options({ account: { getAddress: () => account.getAddress(), signTypedData } }));
        expect(body["signature"]).to.match(/^0x[0-9a-f]{128}1[bc]$/);
      }
      expect(spent()).to.equal(2n * AMOUNT);
    });
  });

  it("rejects invalid requests before it asks the account to sign", async () => {
    const wallet: Wallet = await world.wallet();
    const cases: [string, Partial<Record<keyof FundOptions, unknown>>][] = [
      ["INVALID_OPTION", { amount: undefined }],
      ["INVALID_OPTION", { amounts: [AMOUNT] }],
      ["INVALID_AMOUNT", { amount: -1n }],
      ["INVALID_AMOUNT", { amount: 5 }],
      ["INVALID_OPTION", { amount: undefined, amounts: [] }],
      ["INVALID_OPTION", { account: undefined }],
      ["INVALID_OPTION", { account: account.address }],
      ["INVALID_OPTION", { service: undefined }],
      ["SERVICE_NOT_ALLOWED", { service: "ftp://x.example" }],
      ["INVALID_OPTION", { key: "" }],
      ["INVALID_OPTION", { key: "k".repeat(201) }],
      ["INVALID_OPTION", { until: "later" }],
      ["INVALID_OPTION", { timeoutMs: -1 }],
      ["INVALID_OPTION", { validFor: 59 }],
      ["INSUFFICIENT_TOKENS", { amount: HELD + 1n }],
    ];
    for (const [code, changes] of cases) {
      const error = await rejection(wallet.fund({ ...options(), ...changes } as FundOptions));
      expect(error.code, Object.keys(changes).join()).to.equal(code);
    }
    for (const id of ["", "x", "../wallet", `${"0".repeat(31)}G`])
      expect((await rejection(wallet.resumeDeposit(id, { service: service.client }))).code).to.equal("UNKNOWN_DEPOSIT");
    expect([signed, service.asked.length]).to.deep.equal([0, 0]);
  });

  it("reports a record that it did not write itself", async () => {
    const wallet = await world.wallet();
    const id = "0".repeat(32);
    for (const value of [null, { id }, { id, account: "0x", amounts: ["1"], keyIndex: 1, created: 1, request: {} }]) {
      await wallet.store.put(`fund/${id}`, value);
      expect((await rejection(wallet.fund(options()))).code).to.equal("STORE_DAMAGED");
      expect((await rejection(wallet.resumeDeposit(id, { service: service.client }))).code).to.equal("STORE_DAMAGED");
      await wallet.scan();
    }
    expect(signed).to.equal(0);
  });
});

/** A copy of the wallet's records without the scanned chain data. */
async function withoutScan(store: Store): Promise<Store> {
  const copy = new MemoryStore();
  for (const prefix of ["identity", "fund/"])
    for (const { key, value } of await store.list(prefix)) await copy.put(key, value);
  return copy;
}
