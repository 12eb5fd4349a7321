// Deposits of contract accounts (EIP-1271) and of accounts with a delegation (EIP-7702), relayed by the service.
import { MAX_DEPOSIT_SIGNATURE_BYTES, shieldedPoolAbi } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { type Answer, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import {
  ANSWER,
  costlyWallet,
  delegate,
  delegatedAccount,
  ownersWallet,
  type SmartAccount,
  troublesome,
} from "@sotto/test-world/contract-wallets";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import {
  AbiCoder,
  type Contract,
  concat,
  Interface,
  Signature,
  type TransactionReceipt,
  toBeHex,
  Wallet,
} from "ethers";
import { signedBody } from "./support/deposits.ts";

const HELD = 100_000n;
const DEPOSIT = new Interface(shieldedPoolAbi).getFunction("depositWithAuthorization")!.selector;
const addressOf = async (contract: Promise<Contract> | Contract): Promise<string> =>
  (await (await contract).getAddress()).toLowerCase();

describe("POST /deposit of a smart account", function () {
  slow(this, "a chain and a service");
  let world: World;
  let service: TestService;
  const send = (body: unknown, by = service): Promise<Answer> => post(`${by.url}/deposit`, body);
  const refused = async (body: unknown, by = service) => {
    const { status, body: answer } = await send(body, by);
    return [status, answer["code"]];
  };
  const mint = async (account: string) =>
    (await world.tokenContract.getFunction("mint")(account, HELD)).wait() as Promise<unknown>;
  const tokensOf = (account: string): Promise<bigint> => world.tokenContract.getFunction("balanceOf")(account);
  const funded = async <A extends SmartAccount>(account: A): Promise<A> => {
    await mint(account.from);
    return account;
  };
  const accepting = async (from: string): Promise<SmartAccount> =>
    funded({ from, depositor: { signTypedData: async () => "0x01" } });

  before(async () => {
    world = await openWorld();
    service = await openService();
  });
  after(() => service.close());

  /** The service's deposits that were mined after a block. It may append in between. */
  const sentAfter = async (block: number) => {
    const sent: TransactionReceipt[] = [];
    for (let number = await world.provider.getBlockNumber(); number > block; number -= 1) {
      const { prefetchedTransactions } = (await world.provider.getBlock(number, true))!;
      for (const { from, data, hash } of prefetchedTransactions)
        if (from.toLowerCase() === service.relayer && data.startsWith(DEPOSIT))
          sent.push((await world.provider.getTransactionReceipt(hash))!);
    }
    return sent;
  };

  const pendingDeposits = async (): Promise<number> => {
    const { transactions } = await world.provider.send("eth_getBlockByNumber", ["pending", true]);
    return (transactions as { input: string }[]).filter(({ input }) => input.startsWith(DEPOSIT)).length;
  };

  /** Mines a block every 100 ms until the answer comes: an operation fails only after several blocks. */
  const whileMining = async (answer: Promise<Answer>): Promise<Answer> => {
    const timer = setInterval(() => void world.provider.send("evm_mine", []), 100);
    return answer.finally(() => clearInterval(timer));
  };

  /** Relays a deposit of two notes, and checks every balance. */
  const relays = async (account: SmartAccount) => {
    const pool = await tokensOf(world.pool);
    const [held, ether] = [await tokensOf(account.from), await world.provider.getBalance(account.from)];
    const body = await signedBody(world, account, { amounts: [20_000n, 10_000n] });
    const { status, body: answer } = await send(body);
    expect([status, answer["status"], answer["gasFeePaidBy"]]).to.deep.equal([200, "success", service.relayer]);
    expect((await send(body)).body).to.deep.equal(answer);
    expect([await tokensOf(account.from), await tokensOf(world.pool)]).to.deep.equal([held - 30_000n, pool + 30_000n]);
    expect(await world.provider.getBalance(account.from)).to.equal(ether);
    return body;
  };

  it("relays a deposit of a contract account, once", async () => {
    const account = await funded(await ownersWallet(world));
    const body = await relays(account);
    expect(body.signature.length).to.equal(2 + 2 * 195);
    // The owners' signature for other notes, a signature of fewer owners, and one of a stranger.
    const [other, short] = [await signedBody(world, account), concat([body.signature.slice(0, 132)])];
    expect(await refused({ ...other, signature: body.signature })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...other, ownerTags: ["7"] })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await refused({ ...other, signature: short })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    const stranger = await signedBody(world, { ...account, depositor: Wallet.createRandom() });
    expect(await refused(stranger)).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect((await send(other)).body["status"]).to.equal("success");
  });

  it("relays deposits of a delegated account, signed by its session key or by its own key", async () => {
    const account = await funded(await delegatedAccount(world));
    await relays(account);
    await relays({ from: account.from, depositor: account.key });
    const { signature, ...body } = await signedBody(world, { from: account.from, depositor: account.key });
    const { v, r, s } = Signature.from(signature);
    expect((await send({ ...body, v, r, s })).body["status"]).to.equal("success");
    const late = await signedBody(world, account);
    await delegate(world, account.key, `0x${"00".repeat(20)}`);
    expect(await refused(late)).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
  });

  it("accepts each encoding of a key's signature, and gives the pool the one that the token takes", async () => {
    const account = Wallet.createRandom();
    const from = account.address.toLowerCase();
    await mint(from);
    const encodings = [
      ({ serialized }: Signature) => serialized,
      ({ serialized }: Signature) => serialized.toUpperCase().replace("0X", "0x"),
      ({ r, s, yParity }: Signature) => concat([r, s, toBeHex(yParity, 1)]),
      ({ compactSerialized }: Signature) => compactSerialized,
    ];
    for (const encode of encodings) {
      const body = await signedBody(world, { from, depositor: account }, { amounts: [10_000n] });
      const sent = { ...body, signature: encode(Signature.from(body.signature)) };
      expect((await send(sent)).body["status"], sent.signature).to.equal("success");
    }
    expect(await tokensOf(from)).to.equal(HELD - 40_000n);
    const body = await signedBody(world, { from, depositor: Wallet.createRandom() });
    expect(await refused(body)).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
  });

  it("answers 400 to a request with two signatures, half of one, or one that is too long", async () => {
    const account = await funded(await ownersWallet(world));
    const body = await signedBody(world, account);
    const { v, r, s } = Signature.from(`0x${body.signature.slice(2, 132)}`);
    const { signature: _, ...bare } = body;
    const bodies = [
      bare,
      { ...body, v, r, s },
      { ...body, v },
      { ...bare, r, s },
      { ...body, signature: "0x" },
      { ...body, signature: "0x1" },
      { ...body, signature: `${body.signature}0g` },
      { ...body, signature: `0x${"11".repeat(MAX_DEPOSIT_SIGNATURE_BYTES + 1)}` },
      { ...body, signature: [body.signature] },
    ];
    for (const each of bodies)
      expect(await refused(each), JSON.stringify(each)).to.deep.equal([400, "INVALID_REQUEST"]);
    const longest = `0x${"11".repeat(MAX_DEPOSIT_SIGNATURE_BYTES)}`;
    expect(await refused({ ...body, signature: longest })).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect((await send(body)).body["status"]).to.equal("success");
  });

  it("refuses accounts whose code fails in any way, and accounts that are not deployed", async () => {
    const codes = [ANSWER.Revert, ANSWER.BurnGas, ANSWER.HugeReturn, ANSWER.Bytes];
    for (const answer of codes) {
      const account = await accepting(await troublesome(world, answer));
      expect(await refused(await signedBody(world, account))).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    }
    const nobody = await accepting(Wallet.createRandom().address.toLowerCase());
    expect(await refused(await signedBody(world, nobody))).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    const wrapped = AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [world.token, "0x", "0x01"]);
    const signature = concat([wrapped, `0x${"6492".repeat(16)}`]);
    const { status, body } = await send({ ...(await signedBody(world, nobody)), signature });
    expect([status, body["code"]]).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(body["message"]).to.match(/is not deployed \(EIP-6492\).*deploy it first$/);
  });

  it("sends nothing for an account whose check costs more than a deposit may", async () => {
    const before = await world.provider.getBlockNumber();
    const costly = await accepting(await addressOf(costlyWallet(world, 2_000_000n)));
    const { body } = await whileMining(send(await signedBody(world, costly)));
    expect(body).to.include({ status: "failed", reason: "REVERTED" });
    expect([await sentAfter(before), await tokensOf(costly.from)]).to.deep.equal([[], HELD]);
    // A passkey that is checked in Solidity.
    await relays(await accepting(await addressOf(costlyWallet(world, 350_000n))));
  });

  it("relays 64 notes of an account whose check is costly", async () => {
    const account = await accepting(await addressOf(costlyWallet(world, 350_000n)));
    await (await world.tokenContract.getFunction("mint")(account.from, 640_000n - HELD)).wait();
    const body = await signedBody(world, account, { amounts: Array<bigint>(64).fill(10_000n) });
    const { body: answer } = await send(body);
    expect(answer["status"]).to.equal("success");
    expect(await tokensOf(account.from)).to.equal(0n);
  });

  it("pays at most the gas of one deposit for an account that burns gas after the simulation", async () => {
    const before = await world.provider.getBlockNumber();
    const costly = await costlyWallet(world, 0n);
    const account = await accepting(await addressOf(costly));
    const body = await signedBody(world, account);
    await world.provider.send("evm_setAutomine", [false]);
    let answer: Answer;
    try {
      const asked = send(body);
      await eventually(async () => (await pendingDeposits()) > 0);
      // It overtakes the relayer's transaction in the same block.
      await costly.getFunction("setCost")(100_000_000n, { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n });
      answer = await whileMining(asked);
    } finally {
      await world.provider.send("evm_setAutomine", [true]);
    }
    expect(answer.body).to.include({ status: "failed", reason: "REVERTED" });
    expect(await refused(body)).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(await tokensOf(account.from)).to.equal(HELD);
    const receipts = await sentAfter(before);
    expect(receipts.map(({ status }) => status)).to.deep.equal([0]);
    expect(Number(receipts[0]!.gasUsed)).to.be.within(150_000, 750_000);
  });

  it("limits the checks of contract accounts' signatures per client and day", async () => {
    const settings = { SOTTO_CLIENT_QUOTA: "2" };
    const mean = closedAfterTest(await openService(settings, clockWithin(DAY_MS)));
    const account = await funded(await ownersWallet(world));
    const good = await signedBody(world, account);
    const { body: answer } = await send(good, mean);
    expect(answer["status"]).to.equal("success");
    // A repeated request was checked before, and a key's signature needs no chain.
    expect((await send(good, mean)).body).to.deep.equal(answer);
    const bad = { ...(await signedBody(world, account)), signature: "0x01" };
    expect(await refused(bad, mean)).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    const { status, body } = await send(bad, mean);
    expect([status, body["code"]]).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    expect(body["message"]).to.match(
      /^quota exceeded: 2 checked signatures of contract accounts a day for one network/,
    );
    const key = Wallet.createRandom();
    await mint(key.address);
    const own = await signedBody(world, { from: key.address.toLowerCase(), depositor: key });
    expect((await send(own, mean)).body["status"]).to.equal("success");
  });
});
