// Deploys to a network that is not the local chain: it has another chain id, mines blocks at intervals and drops
// connections.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tokenSupport } from "@sotto/deploy/chain/authorizations";
import {
  CHAIN_PROPERTIES,
  lacksOf,
  MAX_CODE_BYTES,
  MAX_CREATION_BYTES,
  MAX_TRANSACTION_GAS,
} from "@sotto/deploy/chain/properties";
import { compareDeployment, differs } from "@sotto/deploy/check";
import { assertToken, deployerOf } from "@sotto/deploy/preflight";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, parseAddress, parseDeployment } from "@sotto/protocol";
import { command, expectRefused } from "@sotto/test-kit/command";
import { type Altered, CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { AbiCoder, HDNodeWallet, id, JsonRpcProvider, toBeHex } from "ethers";
import hre from "hardhat";
import { compile, construct, type Entry, withoutAddress } from "./support/explorer.ts";
import { LACKING_CHAINS, type LackingChain } from "./support/lacking-chains.ts";

const snapshot = JSON.parse(
  readFileSync(join(import.meta.dirname, "..", "contracts", "gas.snapshot.json"), "utf8"),
) as { "settle.64": number };
const root = join(import.meta.dirname, "..", "..");
const MNEMONIC = "test test test test test test test test test test test junk";
const deployer = HDNodeWallet.fromPhrase(MNEMONIC);
/** Verifier, verifier, verifier, hash, test dollar, pool. */
const TRANSACTIONS = 6;

describe("deploying to a network", function () {
  slow(this, "deployments to a chain of their own");
  let node: LocalNode;
  let proxy: CuttingProxy;
  let url: string;
  let folder: string;
  let provider: JsonRpcProvider;
  let manifest: DeploymentManifest;
  const network = `test-${process.pid}`;
  const journal = join(root, "ignition", "deployments", network);
  const sources = join(root, ".sotto", "deployments", network);

  const run = (script: string, args: string[], rpc = url) =>
    command(script, args, undefined, { SOTTO_DEPLOY_RPC_URL: rpc, SOTTO_DEPLOYER_KEY: deployer.privateKey });
  const deploy = (...args: string[]) =>
    run("packages/deploy/src/main.ts", ["--network", network, "--to", folder, ...args]);
  const check = (file: string) => run("packages/deploy/src/check-main.ts", ["--file", file]);

  before(async () => {
    node = await startNode(0, { chainId: 1337, blockTimeMs: 300 });
    proxy = new CuttingProxy(node.url);
    url = await proxy.listen();
    folder = temporaryFolder("deploy");
    provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  });
  after(async () => {
    provider.destroy();
    await proxy.close();
    await node.stop();
    for (const path of [folder, journal, sources]) rmSync(path, { recursive: true, force: true });
  });

  it("rejects an invalid deployment before anything is sent", async () => {
    expectRefused(await deploy(), "OPTION_MISSING", "--token");
    expectRefused(await deploy("--token", "0x12"), "INVALID_ADDRESS", "token");
    expectRefused(await deploy("--token", `0x${"11".repeat(20)}`), "TOKEN_INVALID");
    expectRefused(
      await deploy("--test-token", "yes", "--set", "ceremony/none"),
      "ARTIFACT_SET_UNKNOWN",
      "ceremony/none",
    );
    expectRefused(await deploy("--test-token", "yes", "--smallest-deposit", "0.5"), "OPTION_INVALID");
    expectRefused(await deploy("--test-token", "yes", "--finality", "1001"), "OPTION_INVALID", "0 to 1000");
    expectRefused(
      await run("packages/deploy/src/main.ts", ["--network", "../x", "--test-token", "yes"]),
      "NETWORK_INVALID",
    );
    expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
  });

  it("rejects a chain that lacks a property before anything is sent, and names what it lacks", async () => {
    const names = LACKING_CHAINS.map(({ property }) => property);
    expect([...new Set(names)]).to.deep.equal(CHAIN_PROPERTIES.map(({ name }) => name));
    const firsts = LACKING_CHAINS.filter(({ property }, index) => names.indexOf(property) === index);
    const basis = firsts.filter(({ property }) => property === "code in calls");
    const isRequired = ({ property }: LackingChain) =>
      !CHAIN_PROPERTIES.some((each) => each.name === property && each.isOptional);
    const required = firsts.filter((lacking) => isRequired(lacking) && !basis.includes(lacking));
    try {
      for (const lacking of [basis, required.slice(0, 1), required]) {
        proxy.alter = (...request) =>
          lacking.map(({ alter }) => alter(...request)).find((answer) => answer !== undefined);
        const refused = await deploy("--test-token", "yes");
        expectRefused(refused, "CHAIN_UNSUITABLE", ...lacking.map(({ property }) => `${property}: `));
        expect(refused.stderr.split("; ")).to.have.length(lacking.length);
      }
    } finally {
      proxy.alter = undefined;
    }
    expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
    expect(existsSync(journal)).to.equal(false);
  });

  it("tests each property by requests, and does not mistake a node that does not answer for a missing property", async () => {
    const through = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
    const ask = (method: string, params: unknown[]): Promise<unknown> => through.send(method, params);
    try {
      expect(await lacksOf(ask)).to.deep.equal([]);
      for (const { property, found, alter } of LACKING_CHAINS) {
        proxy.alter = alter;
        for (const { name, find } of CHAIN_PROPERTIES) {
          // 67 pairings take half a second.
          if (name === "pairings of a batch" && property !== name) continue;
          const problem = await find(ask);
          if (name === property) expect(problem, name).to.include(found);
          else expect(problem, `${name} if ${property} is missing`).to.equal(undefined);
        }
      }
      proxy.alter = undefined;
      proxy.left = -1;
      const failure: unknown = await lacksOf(ask).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
    } finally {
      proxy.alter = undefined;
      proxy.mend();
      through.destroy();
    }
  });

  it("tests for limits that this tree's contracts and batches need", async () => {
    for (const name of ["ShieldedPool", "PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier", "PoseidonT4"]) {
      const { bytecode, deployedBytecode } = await hre.artifacts.readArtifact(name);
      // The pool's constructor has six arguments of one word.
      expect(bytecode.length / 2 - 1 + 6 * 32, name).to.be.at.most(MAX_CREATION_BYTES);
      expect(deployedBytecode.length / 2 - 1, name).to.be.at.most(MAX_CODE_BYTES);
    }
    const batch = BigInt(snapshot["settle.64"]);
    const calldata = 64n * 708n * 16n;
    const needed = ((batch + calldata) * 5n) / 4n;
    expect(needed <= MAX_TRANSACTION_GAS).to.equal(true);
  });

  it("rejects development keys on chains that are not local", async () => {
    const other = await startNode(0, { chainId: 84532 });
    try {
      const args = ["--network", network, "--to", folder, "--test-token", "yes"];
      expectRefused(await run("packages/deploy/src/main.ts", args, other.url), "DEVELOPMENT_KEYS_REFUSED", "84532");
      const there = new JsonRpcProvider(other.url, undefined, { staticNetwork: true });
      expect(await there.getTransactionCount(deployer.address)).to.equal(0);
      there.destroy();
    } finally {
      await other.stop();
    }
    const settings = { SOTTO_DEPLOY_RPC_URL: url, SOTTO_DEPLOYER_KEY: deployer.privateKey, NODE_ENV: "production" };
    const args = ["--network", network, "--to", folder, "--test-token", "yes"];
    expectRefused(
      await command("packages/deploy/src/main.ts", args, undefined, settings),
      "DEVELOPMENT_KEYS_REFUSED",
      "nowhere in production",
    );
    expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
  });

  it("rejects a public account as the deployer on chains that are not local", async () => {
    const connection = await hre.network.create({ network: "localhost", override: { url } });
    try {
      const error = await expectRejected("SETTING_INVALID", () => deployerOf(connection, 84532));
      expect(error.message).to.include("SOTTO_DEPLOYER_KEY");
      expect((await deployerOf(connection, 1337)).account).to.equal(deployer.address.toLowerCase());
    } finally {
      await connection.close();
    }
  });

  it("resumes after two lost connections, and deploys nothing twice", async () => {
    for (const transactions of [1, 2]) {
      proxy.mend(transactions);
      const cut = await deploy("--test-token", "yes");
      expect(cut.status, cut.stdout).to.equal(1);
      expect(existsSync(join(folder, `${network}.json`))).to.equal(false);
    }
    proxy.mend();
    const { status, stdout, stderr } = await deploy("--test-token", "yes", "--finality", "12");
    expect(status, stdout + stderr).to.equal(0);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(TRANSACTIONS);
    manifest = parseDeployment(JSON.parse(readFileSync(join(folder, `${network}.json`), "utf8")));
    expect(manifest.finality).to.equal(12);
    expect(manifest).to.include({ network, chainId: 1337, set: "development", smallestDeposit: "10000" });
    expect(manifest.deploymentBlock).to.be.greaterThan(0);
    expect(stdout).to.include(manifest.pool);
    expect(stdout + stderr).to.not.include(deployer.privateKey.slice(2));
  });

  it("writes a manifest that can be committed: without URL, account, key or path, and formatted", () => {
    const text = readFileSync(join(folder, `${network}.json`), "utf8");
    for (const secret of [url, node.url, "http", deployer.address, deployer.privateKey.slice(2), folder, root])
      expect(text.toLowerCase(), secret).to.not.include(secret.toLowerCase());
    const committed = join("deployments", `${network}.json`);
    const ignored = spawnSync("git", ["check-ignore", "--no-index", committed], { cwd: root });
    expect(ignored.status, "git ignores it").to.equal(1);
    const formatted = spawnSync(
      join(root, "node_modules", ".bin", "biome"),
      ["format", `--stdin-file-path=${committed}`],
      { cwd: root, input: text },
    );
    expect([formatted.status, String(formatted.stdout)]).to.deep.equal([0, text]);
  });

  it("does nothing if repeated", async () => {
    const before = readFileSync(join(folder, `${network}.json`), "utf8");
    const { status } = await deploy("--test-token", "yes");
    expect(status).to.equal(0);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(TRANSACTIONS);
    expect(readFileSync(join(folder, `${network}.json`), "utf8")).to.equal(before);
  });

  it("prepares source and arguments from which explorers can reproduce the code on chain", async () => {
    const entries = JSON.parse(readFileSync(join(sources, "verification.json"), "utf8")) as Entry[];
    expect(entries.map(({ address }) => address)).to.deep.equal(
      Object.values(manifest.contracts).map(({ address }) => address),
    );
    const compiled = await compile(entries, sources);
    for (const [index, entry] of entries.entries()) {
      const [creation, found] = [compiled[index]!, await provider.getCode(entry.address)];
      const made = await construct(provider, creation + entry.constructorArguments);
      expect(made === withoutAddress(found), entry.contract).to.equal(true);
      if (!entry.contract.endsWith(":ShieldedPool")) continue;
      const others = await construct(provider, creation + entry.constructorArguments.replace(/.$/, "1"));
      expect(others === found, "with other arguments").to.equal(false);
    }
  });

  it("compares chain, manifest and tree, and names each difference", async () => {
    const good = await check(join(folder, `${network}.json`));
    expect(good.status, good.stderr).to.equal(0);
    expect(good.stdout).to.not.include("DIFFERS");
    const { contracts } = manifest;
    const swapped = { ...contracts, paymentVerifier: contracts.withdrawalVerifier };
    const rehashed = { ...contracts, noteHasher: { ...contracts.noteHasher, codeHash: `0x${"00".repeat(32)}` } };
    const changes: [string, Partial<DeploymentManifest>][] = [
      ["paymentVerifier of the pool", { contracts: swapped }],
      ["code of paymentVerifier", { contracts: swapped }],
      ["code hash of noteHasher", { contracts: rehashed }],
      ["token", { token: `0x${"11".repeat(20)}` }],
      ["smallest deposit", { smallestDeposit: "1" }],
      ["pool at block", { deploymentBlock: manifest.deploymentBlock + 1 }],
      ["verification key of payment", { verificationKeys: { ...manifest.verificationKeys, payment: "00".repeat(32) } }],
    ];
    const file = join(folder, "changed.json");
    for (const [what, change] of changes) {
      const found = (await compareDeployment({ ...manifest, ...change }, provider)).filter(differs);
      expect(found.map((difference) => difference.what).join(), what).to.include(what);
    }
    const [[what, change]] = changes as [(typeof changes)[0]];
    writeFileSync(file, JSON.stringify({ ...manifest, ...change }));
    const result = await check(file);
    expectRefused(result, "DEPLOYMENT_DIFFERS", what);
    expect(result.stdout).to.match(new RegExp(`^DIFFERS ${what}`, "m"));
    const [elsewhere] = LACKING_CHAINS.filter(({ property }) => property === "BN254 precompiles");
    proxy.alter = elsewhere!.alter;
    const manifestFile = join(folder, `${network}.json`);
    const there = await run("packages/deploy/src/check-main.ts", ["--file", manifestFile, "--rpc", url]);
    expectRefused(
      there,
      "DEPLOYMENT_DIFFERS",
      "BN254 precompiles: expected suitable, found no precompile at address 6",
    );
    proxy.alter = undefined;
    const missing = `0x${"99".repeat(20)}`;
    const absent = { ...contracts, pool: { ...contracts.pool, address: missing } };
    writeFileSync(file, JSON.stringify({ ...manifest, pool: missing, contracts: absent }));
    expectRefused(await check(file), "DEPLOYMENT_DIFFERS", "no contract");
    writeFileSync(file, JSON.stringify({ ...manifest, chainId: 31337 }));
    expectRefused(await check(file), "DEPLOYMENT_DIFFERS", "chain id");
    writeFileSync(file, "{}");
    expectRefused(await check(file), "DEPLOYMENT_INVALID");
    expectRefused(await check(join(folder, "none.json")), "MANIFEST_MISSING");
    const nowhere = await run("packages/deploy/src/check-main.ts", [
      "--file",
      join(folder, `${network}.json`),
      "--rpc",
      "http://127.0.0.1:1",
    ]);
    expectRefused(nowhere, "NODE_UNREACHABLE");
  });

  it("reports how large amounts of the token can be", async () => {
    const through = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
    const provider = {
      request: ({ method, params }: { method: string; params: unknown[] }) => through.send(method, params),
    };
    const asked = id("decimals()").slice(0, 10);
    const reported = (decimals?: bigint) => {
      proxy.alter = (method, [call]) =>
        decimals !== undefined && method === "eth_call" && (call as { data?: string }).data === asked
          ? { result: toBeHex(decimals, 32) }
          : undefined;
      return assertToken({ provider } as never, parseAddress(manifest.token), manifest.chainId);
    };
    const line = (decimals: number, most: string) =>
      `${manifest.token} has ${decimals} decimals: a deposit, a payment or a withdrawal is at most ${most} tokens`;
    try {
      expect(await reported()).to.deep.equal([line(6, "18446744073709.551615")]);
      expect(await reported(18n)).to.deep.equal([line(18, "18.446744073709551615")]);
      expect(await reported(36n)).to.deep.equal([line(36, "0.000000000000000018446744073709551615")]);
      expect(await reported(37n).catch((error: unknown) => error)).to.include({ code: "TOKEN_INVALID" });
    } finally {
      proxy.alter = undefined;
      through.destroy();
    }
  });

  it("redeems an authorization of nothing to learn whether the token has EIP-3009", async () => {
    const through = new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
    const token = parseAddress(manifest.token);
    const found = (chainId = manifest.chainId) =>
      tokenSupport((method, params) => through.send(method, params), token, chainId);
    const selector = (signature: string) => id(signature).slice(0, 10);
    const answering = (signature: string, answer: Altered): CuttingProxy["alter"] => {
      const start = selector(signature);
      return (method, [call]) =>
        method === "eth_call" && String((call as { data?: string }).data).startsWith(start) ? answer : undefined;
    };
    const redeem = "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";
    const whole = "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)";
    const reverted: Altered = { error: { code: 3, message: "execution reverted" } };
    try {
      expect(await found()).to.deep.equal({ problem: undefined, accounts: true });
      expect((await found(1)).problem).to.include("DOMAIN_SEPARATOR");
      const lacking: [string, Altered, string][] = [
        ["version()", reverted, "no name, version and DOMAIN_SEPARATOR"],
        ["version()", { result: AbiCoder.defaultAbiCoder().encode(["string"], ["3"]) }, 'version "3"'],
        ["DOMAIN_SEPARATOR()", { result: "0x" }, "no name, version and DOMAIN_SEPARATOR"],
        ["DOMAIN_SEPARATOR()", { result: `0x${"11".repeat(32)}` }, "is not that of name"],
        [redeem, reverted, "refuses a valid authorization"],
        [redeem, { result: "0x" }, "accepts an authorization for another chain"],
      ];
      for (const [signature, answer, problem] of lacking) {
        proxy.alter = answering(signature, answer);
        const { problem: told, accounts } = await found();
        expect([told?.includes(problem), accounts], problem).to.deep.equal([true, false]);
      }
      for (const answer of [reverted, { result: "0x" }]) {
        proxy.alter = answering(whole, answer);
        expect(await found()).to.deep.equal({ problem: undefined, accounts: false });
      }
      proxy.alter = undefined;
      const good = await check(join(folder, `${network}.json`));
      expect(good.stdout).to.include("deposits by EIP-3009: supported");
      expect(good.stdout).to.include("deposits by EIP-3009 of contract accounts: supported");
      expect(good.stdout).to.include("deposits by Permit2: not supported, because the chain has no Permit2");
    } finally {
      proxy.alter = undefined;
      through.destroy();
    }
  });

  it("lets a service start from its manifest, but not with other keys or settings", async () => {
    const file = join(folder, `${network}.json`);
    const settings = {
      SOTTO_DEPLOYMENT: file,
      SOTTO_RPC_URLS: node.url,
      SOTTO_ARTIFACTS: join(import.meta.dirname, "..", "..", "circuits", "build"),
      SOTTO_PORT: "0",
      SOTTO_STORE: "sqlite::memory:",
      SOTTO_TOKEN_KEYS: join(folder, "token-keys"),
      SOTTO_VERIFY_WORKERS: "1",
    };
    const service = await startProcess(settings);
    try {
      const circuits = (await (await fetch(`${service.url}/circuits`)).json()) as { set: string; chainId: unknown };
      expect(JSON.stringify(circuits)).to.include("development");
      expect((await fetch(`${service.url}/healthz`)).status).to.equal(200);
    } finally {
      await stopProcess(service);
    }
    const refuses = async (changes: Record<string, string>, reason: RegExp) => {
      const failure: unknown = await startProcess({ ...settings, ...changes }).then(stopProcess, (error) => error);
      expect(String(failure)).to.match(reason);
    };
    await refuses(
      { SOTTO_CHAIN_ID: "31337" },
      /INVALID_CONFIG: SOTTO_CHAIN_ID contradicts the manifest \S+, which says 1337/,
    );
    const swapped = { ...manifest, set: "ceremony/never-held" };
    writeFileSync(join(folder, "set.json"), JSON.stringify(swapped));
    await refuses({ SOTTO_DEPLOYMENT: join(folder, "set.json") }, /ARTIFACT_SET_UNKNOWN/);
  });
});
