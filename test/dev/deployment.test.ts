// The deployment that the chains of one run of `npm test` share.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DeployedNode, startDeployedNode } from "@sotto/local/chain/node";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { rpc } from "./support/dev.ts";

const VARIABLE = "SOTTO_TEST_DEPLOYMENT";

describe("the deployment that chains share", function () {
  slow(this, "four chains start");
  const folder = temporaryFolder("deployment");
  const file = join(folder, "deployment.json");
  const ofRun = process.env[VARIABLE];
  const nodes: DeployedNode[] = [];
  const start = async () => {
    const node = await startDeployedNode();
    nodes.push(node);
    return node;
  };
  const stateOf = async ({ url }: DeployedNode) => {
    const block = await rpc<{ number: string; stateRoot: string }>(url, "eth_getBlockByNumber", "latest", false);
    return { number: block.number, stateRoot: block.stateRoot };
  };
  before(() => {
    process.env[VARIABLE] = file;
  });
  after(async () => {
    if (ofRun === undefined) delete process.env[VARIABLE];
    else process.env[VARIABLE] = ofRun;
    for (const node of nodes) await node.stop();
  });

  it("gives a chain that repeats it the state and the manifest of the first chain", async () => {
    const first = await start();
    const recorded = readFileSync(file, "utf8");
    const second = await start();
    expect(second.deployment).to.deep.equal(first.deployment);
    expect(await stateOf(second)).to.deep.equal(await stateOf(first));
    expect(readFileSync(file, "utf8")).to.equal(recorded);
  });

  it("is not repeated if the contracts have changed since", async () => {
    const recorded = readFileSync(file, "utf8");
    // The state of older contracts: no transaction at all.
    writeFileSync(file, JSON.stringify({ ...JSON.parse(recorded), sources: "older", transactions: [] }));
    expect(await stateOf(await start())).to.deep.equal(await stateOf(nodes[0]!));
    expect(readFileSync(file, "utf8")).to.equal(recorded);
  });

  it("fails the start if the chain refuses a recorded transaction", async () => {
    const snapshot = JSON.parse(readFileSync(file, "utf8")) as { transactions: string[] };
    expect(snapshot.transactions).to.have.length.greaterThan(4);
    writeFileSync(file, JSON.stringify({ ...snapshot, transactions: snapshot.transactions.slice(1) }));
    const refused = await start().then(
      () => "started",
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    );
    expect(refused).to.match(/^NODE_FAILED: .*nonce/i);
  });
});
