import { expect } from "chai";
import { connectChain } from "../src/index.ts";
import { GONE, HANG, HASH, rpcError, TestNode } from "./support/node.ts";

/** Timeout that no machine reaches, ms. */
const TIMEOUT = 1_200_000;

describe("broadcasting a transaction", () => {
  let first: TestNode;
  let second: TestNode;
  let time = 0;
  const reader = () =>
    connectChain({ urls: [first.url, second.url], chainId: 31337n, timeoutMs: TIMEOUT, clock: () => time });
  const answer = (one: unknown, other: unknown) => {
    first.answers["eth_sendRawTransaction"] = one;
    second.answers["eth_sendRawTransaction"] = other;
  };
  beforeEach(async () => {
    time = 0;
    [first, second] = [await TestNode.start(), await TestNode.start()];
  });
  afterEach(async () => {
    await first.stop();
    await second.stop();
  });

  it("succeeds if one node accepts it or already has it", async () => {
    for (const taken of [
      HASH,
      rpcError("already known"),
      rpcError("ALREADY_EXISTS: already known"),
      rpcError("Known transaction", -32010),
      // A node that mines immediately and reports the revert.
      rpcError("VM Exception while processing transaction: reverted with custom error 'X()'", -32603),
    ])
      for (const other of [rpcError("nonce too low"), rpcError("Unauthorized"), GONE]) {
        answer(taken, other);
        expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: true });
        answer(other, taken);
        expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: true });
      }
  });

  it("sends to every node, and returns on the first acceptance", async () => {
    for (const [one, other] of [[HASH, HANG] as const, [HANG, HASH] as const]) {
      const asked = [first.count("eth_sendRawTransaction"), second.count("eth_sendRawTransaction")];
      answer(one, other);
      expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: true });
      const sent = () => [first.count("eth_sendRawTransaction"), second.count("eth_sendRawTransaction")];
      while (sent().some((count, index) => count === asked[index])) await new Promise(setImmediate);
    }
  });

  it("reports a refusal with the node's message, even if another node is at fault", async () => {
    answer(rpcError("nonce too low"), rpcError("replacement transaction underpriced"));
    expect((await reader().broadcast("0x02")).refusal).to.be.oneOf([
      "nonce too low",
      "replacement transaction underpriced",
    ]);
    answer(rpcError("nonce too low"), rpcError("Unauthorized"));
    expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: false, refusal: "nonce too low" });
  });

  it("is refused soon after the first refusal, even if another node hangs", async () => {
    answer(HANG, rpcError("nonce too low"));
    const { setTimeout } = globalThis;
    let patienceIsOver: (() => void) | undefined;
    globalThis.setTimeout = ((action: () => void, ms: number) => {
      if (ms !== TIMEOUT / 10) return setTimeout(action, ms);
      patienceIsOver = action;
      return undefined;
    }) as typeof setTimeout;
    try {
      const sent = reader().broadcast("0x02");
      while (patienceIsOver === undefined) await new Promise(setImmediate);
      patienceIsOver();
      expect(await sent).to.deep.equal({ accepted: false, refusal: "nonce too low" });
    } finally {
      globalThis.setTimeout = setTimeout;
    }
  });

  it("fails if every node is at fault, without repeating their messages", async () => {
    answer(GONE, rpcError("no such key: secret-key"));
    const error = `${second.name} responded to eth_sendRawTransaction with error -32000`;
    expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: false, refusal: error });
    answer(rpcError("no such key: secret-key"), GONE);
    const { refusal } = await reader().broadcast("0x02");
    expect(refusal).to.equal(`${second.name} does not answer eth_sendRawTransaction`);
  });

  it("is refused by a node that names the reason with the code of a revert", async () => {
    for (const refusal of ["intrinsic gas too low", "nonce too low. allowed nonce range: 427 - 447, actual: 426"]) {
      answer(rpcError(refusal, 3, "0x"), GONE);
      expect(await reader().broadcast("0x02")).to.deep.equal({ accepted: false, refusal });
    }
  });

  it("reports the lowest priority fee that a node accepts", async () => {
    const refusal = "transaction gas price below minimum: gas tip cap 1500000000, minimum needed 25000000000";
    for (const other of [GONE, rpcError(refusal)]) {
      answer(rpcError(refusal), other);
      expect(await reader().broadcast("0x02")).to.deep.equal({
        accepted: false,
        refusal,
        lowestTip: 25_000_000_000n,
      });
    }
  });

  it("does not count a refusal as a fault of the node", async () => {
    answer(rpcError("insufficient funds for gas * price + value"), rpcError("nonce too low"));
    first.answers["eth_getBalance"] = "0x5";
    second.answers["eth_getBalance"] = "0x6";
    const chain = reader();
    await chain.broadcast("0x02");
    expect(await chain.balance(HASH)).to.equal(5n);
    answer(rpcError("daily request count exceeded"), HASH);
    await chain.broadcast("0x02");
    while ((await chain.balance(HASH)) !== 6n) await new Promise(setImmediate);
  });
});
