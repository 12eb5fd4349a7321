import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { connectChain } from "../src/index.ts";
import { ADDRESS, LOG, rpcError, TestNode } from "./support/node.ts";

describe("logs of a node", () => {
  let node: TestNode;
  beforeEach(async () => {
    node = await TestNode.start();
  });
  afterEach(() => node.stop());

  const logsOf = (answer: unknown, to = 9) => {
    node.answers["eth_getLogs"] = answer;
    return connectChain({ urls: [node.url], chainId: 31337n }).logs({ address: ADDRESS, from: 1, to });
  };

  it("have the times of their blocks if the node returns them, as hex or as numbers", async () => {
    for (const [given, read] of [
      ["0x6b49d200", 1_800_000_000],
      [1_800_000_000, 1_800_000_000],
      ["0x0", 0],
      ...[null, -1, 1.5, "soon", `0x${"f".repeat(20)}`, {}].map((wrong) => [wrong, undefined]),
    ])
      expect((await logsOf([{ ...LOG, blockTimestamp: given }]))[0]!.timestamp, String(given)).to.equal(read);
  });

  it("are refused if they are malformed, removed, from another contract or from other blocks", async () => {
    const edits = [
      { topics: null },
      { topics: 1 },
      { data: 2 },
      { blockNumber: "5" },
      { logIndex: -1 },
      { transactionHash: "0x12" },
      { blockHash: null },
      { removed: true },
    ];
    for (const answer of [null, "0x", {}, [null], [[]], ...edits.map((edit) => [LOG, { ...LOG, ...edit }])])
      expect(await rejection(logsOf(answer)), JSON.stringify(answer)).to.include({ code: "NODE_ERROR" });
    for (const edit of [{ address: `0x${"91".repeat(20)}` }, { blockNumber: "0xa" }])
      expect(await rejection(logsOf([{ ...LOG, ...edit }]))).to.include({ code: "NODE_INCONSISTENT" });
  });

  it("are requested again after a fault, up to `retries` times, but never after RANGE_TOO_LARGE", async () => {
    let faults = 2;
    node.answers["eth_getLogs"] = () => (faults-- > 0 ? rpcError("busy", -32603) : [LOG]);
    const chain = (retries: number) => connectChain({ urls: [node.url], chainId: 31337n, retries });
    const query = { address: ADDRESS, from: 5, to: 5 };
    expect(await chain(2).logs(query)).to.have.length(1);
    faults = 2;
    expect(await rejection(chain(1).logs(query))).to.include({ code: "NODE_ERROR" });
    const asked = node.count("eth_getLogs");
    faults = 1;
    expect(await rejection(chain(3).logs({ ...query, to: 6 }))).to.include({ code: "RANGE_TOO_LARGE" });
    expect(node.count("eth_getLogs")).to.equal(asked + 1);
  });
});
