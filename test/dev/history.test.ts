// The local chain's file of blocks.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { rpc } from "./support/dev.ts";

interface Block {
  readonly hash: string;
  readonly timestamp: string;
}

describe("a persistent local chain", function () {
  slow(this, "a chain starts four times");
  const folder = temporaryFolder("history");
  const history = join(folder, "chain.jsonl");
  let node: LocalNode | undefined;
  const start = async (onReplay?: (blocks: number, of: number) => void) => {
    node = await startNode(0, { history }, onReplay);
    return node.url;
  };
  const stop = () => node?.stop();
  const refused = () =>
    start().then(
      () => "started",
      (error: Error & { code: string }) => error.code,
    );
  const block = (url: string, number: string) => rpc<Block>(url, "eth_getBlockByNumber", number, false);
  after(async () => {
    await stop();
  });

  it("has the same blocks after a restart, including those of failed transactions, and the right time", async () => {
    const url = await start();
    const [from, to] = await rpc<string[]>(url, "eth_accounts");
    await rpc(url, "eth_sendTransaction", { from, to, value: "0x5" });
    // Init code that reverts: the transaction fails, but its block is still mined.
    const reverting = { from, data: "0x60006000fd", gas: "0x20000" };
    const failed = await rpc(url, "eth_sendTransaction", reverting).then(
      () => "accepted",
      () => "failed",
    );
    expect(failed).to.equal("failed");
    await rpc(url, "evm_mine");
    await Promise.all([1, 2, 3].map((value) => rpc(url, "eth_sendTransaction", { from, to, value: `0x${value}` })));
    expect(await rpc(url, "eth_blockNumber")).to.equal("0x6");
    const { hash } = await block(url, "0x6");
    await stop();
    // The node was killed while it wrote.
    appendFileSync(history, '{"number":7,"timest');

    const seen: [number, number][] = [];
    const again = await start((blocks, of) => seen.push([blocks, of]));
    expect(seen).to.deep.equal([1, 2, 3, 4, 5, 6].map((number) => [number, 6]));
    expect((await block(again, "0x6")).hash).to.equal(hash);
    await rpc(again, "eth_sendTransaction", { from, to, value: "0x4" });
    const late = Date.now() / 1000 - Number((await block(again, "0x7")).timestamp);
    expect(late).to.be.within(-2, 60);
    await stop();
    expect(readFileSync(history, "utf8").trim().split("\n")).to.have.lengthOf(8);
  });

  it("rejects blocks that cannot be rebuilt, and files that contain something else", async () => {
    const kept = readFileSync(history, "utf8");
    writeFileSync(history, kept.replace(/"hash":"0x[0-9a-f]{4}/, '"hash":"0x0000'));
    expect(await refused()).to.equal("CHAIN_NOT_REPEATED");
    for (const text of ["not a history\n", '{"version":2}\n', kept.replace('"number":2', '"number":3'), ""]) {
      writeFileSync(history, text);
      expect(await refused(), text.slice(0, 20)).to.equal("CHAIN_HISTORY_DAMAGED");
    }
  });
});
