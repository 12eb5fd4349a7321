// A deployer who wants to steal deposits deploys a pool with the right code, but another constructor wrote its storage.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { compareDeployment, differs } from "@sotto/deploy/check";
import { deployPool } from "@sotto/deploy/deploy";
import { journalOf, sourcesOf } from "@sotto/deploy/manifest-paths";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import type { DeploymentManifest } from "@sotto/protocol";
import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import {
  Contract,
  ContractFactory,
  concat,
  getAddress,
  getBytes,
  HDNodeWallet,
  hexlify,
  JsonRpcProvider,
  keccak256,
  toBeHex,
  zeroPadValue,
} from "ethers";
import hre from "hardhat";

/** Storage slot of the known roots in NoteTree: after the two slots of the queue and the current root. */
const KNOWN_ROOTS = 3;
const EVIL_ROOT = 4711n;
const ROOT_SLOT = keccak256(concat([toBeHex(EVIL_ROOT, 32), toBeHex(KNOWN_ROOTS, 32)]));
const deployer = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");

describe("a pool that was not made by its constructor", function () {
  slow(this, "deployments to a chain of their own");
  let node: LocalNode;
  let provider: JsonRpcProvider;
  let honest: DeploymentManifest;
  let code: Uint8Array;
  const network = `forged-${process.pid}`;

  before(async () => {
    node = await startNode();
    provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
    const connection = await hre.network.create({ network: "localhost", override: { url: node.url } });
    honest = await deployPool(connection, { network, set: "development", token: undefined });
    await connection.close();
    code = getBytes(await provider.getCode(honest.pool));
  });
  after(async () => {
    provider.destroy();
    await node.stop();
    rmSync(dirname(journalOf(network)), { recursive: true, force: true });
  });

  /** Deploys with creation code that writes storage and then returns the pool's code. @returns the manifest */
  async function forge(runtime: Uint8Array, storage: readonly [slot: string, value: bigint][] = []) {
    const word = (value: string | bigint) => zeroPadValue(typeof value === "string" ? value : toBeHex(value), 32);
    const writes = storage.map(([slot, value]) => concat(["0x7f", word(value), "0x7f", word(slot), "0x55"]));
    // PUSH3 length, DUP1, PUSH3 offset, PUSH0, CODECOPY, PUSH0, RETURN
    const rest = (offset: number) =>
      concat(["0x62", toBeHex(runtime.length, 3), "0x8062", toBeHex(offset, 3), "0x5f395ff3"]);
    const offset = getBytes(concat([...writes, rest(0)])).length;
    const signer = await provider.getSigner(0);
    const sent = await signer.sendTransaction({
      data: concat([...writes, rest(offset), runtime]),
      gasLimit: 16_000_000,
    });
    const { contractAddress, blockNumber } = (await sent.wait())!;
    const pool = contractAddress!.toLowerCase() as DeploymentManifest["pool"];
    const codeHash = keccak256(await provider.getCode(pool));
    const contracts = { ...honest.contracts, pool: { address: pool, codeHash } };
    return { ...honest, pool, contracts, deploymentBlock: blockNumber - 1 };
  }

  const found = async (manifest: DeploymentManifest) =>
    (await compareDeployment(manifest, provider)).filter(differs).map(({ what }) => what);

  it("is not reported for a pool that its constructor made", async () => {
    expect(await found(honest)).to.deep.equal([]);
  });

  it("gets no manifest if its journal was planted", async () => {
    const folder = temporaryFolder("planted");
    const args = ["--network", network, "--test-token", "yes", "--to", folder];
    const secrets = { SOTTO_DEPLOY_RPC_URL: node.url, SOTTO_DEPLOYER_KEY: deployer.privateKey };
    const run = () => command("packages/deploy/src/main.ts", args, undefined, secrets);
    const path = journalOf(network);
    const journal = readFileSync(path, "utf8");
    const evil = await forge(code, [[ROOT_SLOT, 1n]]);
    try {
      const planted = journal.replaceAll(new RegExp(honest.pool, "gi"), getAddress(evil.pool));
      expect(planted).to.not.equal(journal);
      writeFileSync(path, planted);
      expectRefused(await run(), "DEPLOYMENT_DIFFERS", "pool at block");
      expect(readdirSync(folder)).to.deep.equal([]);
      writeFileSync(path, journal);
      expect((await run()).status).to.equal(0);
      expect(readdirSync(folder)).to.deep.equal([`${network}.json`]);
    } finally {
      writeFileSync(path, journal);
      rmSync(sourcesOf(network), { recursive: true, force: true });
    }
  });

  it("is rejected if its token is not the requested one", async () => {
    const { abi, bytecode } = await hre.artifacts.readArtifact("TestUSDC");
    const dollar = await new ContractFactory(abi, bytecode, await provider.getSigner(0)).deploy();
    const token = await (await dollar.waitForDeployment()).getAddress();
    const connection = await hre.network.create({ network: "localhost", override: { url: node.url } });
    const path = journalOf(`${network}-token`);
    try {
      const deploy = () => deployPool(connection, { network: `${network}-token`, set: "development", token });
      const good = await deploy();
      expect(await found(good)).to.deep.equal([]);
      writeFileSync(path, readFileSync(path, "utf8").replaceAll(new RegExp(good.pool, "gi"), getAddress(honest.pool)));
      const planted = await deploy();
      expect(planted).to.include({ pool: honest.pool, token: token.toLowerCase() });
      expect(await found(planted)).to.include("token");
    } finally {
      await connection.close();
      rmSync(dirname(path), { recursive: true, force: true });
    }
  });

  it("is rejected if it reports valid verifiers but calls a different one", async () => {
    const { immutableReferences } = await hre.artifacts.readArtifact("ShieldedPool");
    const verifier = honest.contracts.paymentVerifier.address.slice(2);
    const same = (start: number) => hexlify(code.subarray(start + 12, start + 32)).slice(2) === verifier;
    const places = Object.values(immutableReferences ?? {})
      .flat()
      .filter(({ start }) => same(start));
    expect(places.length).to.be.greaterThan(1);
    let seen = 0;
    for (const { start } of places) {
      const runtime = Uint8Array.from(code);
      runtime.fill(0x66, start + 12, start + 32);
      const manifest = await forge(runtime);
      const views = new Contract(manifest.pool, ["function paymentVerifier() view returns (address)"], provider);
      if ((await views.getFunction("paymentVerifier")()).toLowerCase().slice(2) === verifier) seen += 1;
      expect(await found(manifest)).to.include(`pool at block ${manifest.deploymentBlock}`);
    }
    // For all places but one, the view function still returns the genuine verifier.
    expect(seen).to.equal(places.length - 1);
  });

  it("is rejected if it accepts a root of notes that were never deposited", async () => {
    const manifest = await forge(code, [[ROOT_SLOT, 1n]]);
    const pool = new Contract(manifest.pool, ["function isKnownRoot(uint256) view returns (bool)"], provider);
    expect(await pool.getFunction("isKnownRoot")(EVIL_ROOT)).to.equal(true);
    expect(await found(manifest)).to.deep.equal([`pool at block ${manifest.deploymentBlock}`]);
  });
});
