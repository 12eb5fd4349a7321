import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { bn254 } from "@noble/curves/bn254.js";
import { forge, type Trapdoor } from "@sotto/keys/setup/trapdoor";
import { randomField } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle } from "@sotto/test-world/bundles";
import { artifacts, environment, openService, openWorld, type World } from "@sotto/test-world/service";
import { createLog, readConfig, startService } from "@sotto/verifier-service";
import { expect } from "chai";
import { id, Wallet } from "ethers";
import { depositBody } from "./support/deposits.ts";

const G1 = bn254.G1.Point.BASE;
const G2 = bn254.G2.Point.BASE;

describe("starting the service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let folder: string;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(() => {
    folder = temporaryFolder("start");
  });

  const refusal = async (settings: Record<string, string>): Promise<unknown> => {
    const config = readConfig({ ...environment(world, folder), ...settings });
    return startService(config, createLog("silent")).then(
      async (service) => {
        await service.close();
        return "it started";
      },
      (error: { code?: unknown }) => error.code,
    );
  };

  it("fails on a different chain than configured", async () => {
    expect(await refusal({ SOTTO_CHAIN_ID: "1337" })).to.equal("WRONG_CHAIN");
  });

  it("fails with development keys on a chain that is not local", async () => {
    const own = { SOTTO_RELAYER_KEY: Wallet.createRandom().privateKey };
    expect(await refusal({ ...own, SOTTO_CHAIN_ID: "8453" })).to.equal("DEVELOPMENT_KEYS_REFUSED");
    expect(await refusal({ ...own, NODE_ENV: "production" })).to.equal("DEVELOPMENT_KEYS_REFUSED");
  });

  it("fails without a pool at the configured address", async () => {
    expect(await refusal({ SOTTO_POOL: `0x${"12".repeat(20)}` })).to.equal("POOL_MISSING");
    expect(await refusal({ SOTTO_POOL: world.token })).to.equal("POOL_MISSING");
    // A contract that accepts every call and returns nothing, as contract wallets do.
    const silent = `0x${"13".repeat(20)}`;
    await world.provider.send("hardhat_setCode", [silent, "0x00"]);
    expect(await refusal({ SOTTO_POOL: silent })).to.equal("POOL_MISSING");
  });

  it("starts for a token without EIP-712, and relays none of its deposits", async () => {
    const proxy = closedAfterTest(new CuttingProxy(world.node.url));
    const domain = id("DOMAIN_SEPARATOR()").slice(0, 10);
    proxy.alter = (method, [call]) =>
      method === "eth_call" && (call as { data: string }).data === domain
        ? { error: { code: 3, message: "execution reverted" } }
        : undefined;
    const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: await proxy.listen() }));
    const { status, body } = await post(`${service.url}/deposit`, await depositBody(world, Wallet.createRandom(), {}));
    expect([status, body["code"]]).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    expect(body["message"]).to.contain("has no DOMAIN_SEPARATOR");
  });

  it("fails if no node answers", async () => {
    expect(await refusal({ SOTTO_RPC_URLS: "http://127.0.0.1:1" })).to.equal("CHAIN_UNAVAILABLE");
  });

  it("fails if the pool verifies with other keys", async () => {
    const other = closedAfterTest(await openOtherPool(world));
    expect(await refusal({ SOTTO_RPC_URLS: other.url })).to.equal("VERIFIER_MISMATCH");
  });

  it("fails if artifacts differ from the lock", async () => {
    const copy = join(folder, "artifacts");
    for (const name of readdirSync(artifacts)) {
      if (!existsSync(join(artifacts, name, `${name}.zkey`))) continue;
      mkdirSync(join(copy, name), { recursive: true });
      for (const ending of ["wasm", "zkey", "vkey.json", "r1cs"])
        cpSync(join(artifacts, name, `${name}.${ending}`), join(copy, name, `${name}.${ending}`));
    }
    writeFileSync(join(copy, "payment", "payment.wasm"), "x");
    expect(await refusal({ SOTTO_ARTIFACTS: copy })).to.equal("ARTIFACT_DAMAGED");
    expect(await refusal({ SOTTO_ARTIFACTS: join(folder, "nowhere") })).to.equal("ARTIFACT_DAMAGED");
  });

  it("fails if token keys are readable by others, or the port is in use", async () => {
    const keys = join(folder, "open");
    mkdirSync(keys);
    writeFileSync(join(keys, "a.json"), "{}", { mode: 0o644 });
    expect(await refusal({ SOTTO_TOKEN_KEYS: keys })).to.equal("TOKEN_KEY_INVALID");
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    expect(await refusal({ SOTTO_PORT: String(port) })).to.equal("PORT_UNAVAILABLE");
    server.close();
  });

  it("distinguishes proofs under retired keys from invalid ones", async () => {
    const secrets = trapdoor(10);
    mkdirSync(join(folder, "old", "payment"), { recursive: true });
    writeFileSync(join(folder, "old", "payment", "payment.vkey.json"), JSON.stringify(keyOf(secrets)));
    const service = closedAfterTest(await openService({ SOTTO_OTHER_KEYS: join(folder, "old") }));
    const bundle = forgeBundle(world, { root: world.root });
    const { proof } = forge(secrets, bundle.publicSignals.map(BigInt));
    const answer = await post(`${service.url}/verify`, { ...bundle, proof });
    expect([answer.body["valid"], answer.body["reason"]]).to.deep.equal([false, "ARTIFACT_SET_MISMATCH"]);
    const wrong = await post(`${service.url}/verify`, { ...bundle, proof: forgeBundle(world, { root: 1n }).proof });
    expect(wrong.body["reason"]).to.equal("INVALID_PROOF");
    expect(await refusal({ SOTTO_OTHER_KEYS: join(folder, "nothing") })).to.equal("INVALID_CONFIG");
  });
});

/** Keys of another setup, made with known secrets like the development keys. */
function trapdoor(signals: number): Trapdoor {
  const ic = Array.from({ length: signals + 1 }, () => randomField());
  return { alpha: randomField(), beta: randomField(), delta: randomField(), ic };
}

function keyOf({ alpha, beta, delta, ic }: Trapdoor) {
  const g1 = (scalar: bigint) => {
    const { x, y } = G1.multiply(scalar).toAffine();
    return [x, y, 1n].map(String);
  };
  const g2 = (scalar: bigint) => {
    const { x, y } = G2.multiply(scalar).toAffine();
    return [
      [x.c0, x.c1],
      [y.c0, y.c1],
      [1n, 0n],
    ].map((pair) => pair.map(String));
  };
  const points = { vk_alpha_1: g1(alpha), vk_beta_2: g2(beta), vk_gamma_2: g2(1n), vk_delta_2: g2(delta) };
  return { protocol: "groth16", curve: "bn128", nPublic: ic.length - 1, ...points, IC: ic.map(g1) };
}

const LAST_DIGIT = /(?<="result":\s*"0x[0-9a-f]+)[0-9a-f](?=")/;
const otherDigit = (digit: string) => (digit === "0" ? "1" : "0");

/** A node that changes the last digit of every verification key. */
async function openOtherPool(world: World): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const answer = await fetch(world.node.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = await answer.text();
    const { method } = JSON.parse(body.toString()) as { method: string };
    const changed = method === "eth_call" && text.length > 1_500 ? text.replace(LAST_DIGIT, otherDigit) : text;
    response.setHeader("content-type", "application/json").end(changed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
