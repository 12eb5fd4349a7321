// A full run of the service as a program, with deposits, payments, withdrawals and their errors. No key, token, signature
// or proof appears in its logs, metrics or responses.

import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { deriveKeys, randomField, randomSeed, type WireBundle } from "@sotto/protocol";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { call, claimsOf, post } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openWorld, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { depositBody } from "./support/deposits.ts";

const PROGRAM = join(import.meta.dirname, "..", "..", "packages", "service", "dist", "main.js");
/** A key in a node's URL, where providers put their customers' API keys. */
const NODE_KEY = "node-key-4f1c0ffee";

/** Every encoding that a number could appear in. */
const spellings = (value: bigint): string[] => [String(value), value.toString(16).padStart(64, "0")];
const spellingsOf = (hex: string): string[] => spellings(BigInt(hex));

describe("a full run of the service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let folder: string;
  const children: ChildProcess[] = [];
  before(async () => {
    world = await openWorld();
    folder = temporaryFolder("canary");
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  function start(settings: Record<string, string>) {
    const child = spawn(process.execPath, [PROGRAM], { cwd: folder, env: { ...BASE_ENVIRONMENT, ...settings } });
    children.push(child);
    const said: string[] = [];
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const url = new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          said.push(String(chunk));
          const address = /service at (\S+):/.exec(said.join(""))?.[1];
          if (address !== undefined) resolve(address);
        });
      void ended.then(() => reject(new Error(`the service ended: ${said.join("")}`)));
    });
    url.catch(() => undefined);
    return { child, said, ended, url };
  }

  it("leaks no secret", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const jwk = privateKey.export({ format: "jwk" });
    const { SOTTO_TOKEN_KEYS: _, ...place } = environment(world, folder);
    const service = start({
      ...place,
      SOTTO_TOKEN_KEY: JSON.stringify(jwk),
      SOTTO_RPC_URLS: `http://127.0.0.1:1/v2/${NODE_KEY},${world.node.url}/?key=${NODE_KEY}`,
      SOTTO_LOG_LEVEL: "debug",
    });
    const url = await service.url;
    const secrets = new Map<string, readonly string[]>([
      ["the key of the tokens", [String(jwk.d)]],
      ["the relayer's key", spellingsOf(place["SOTTO_RELAYER_KEY"]!)],
      ["the key of a node", [NODE_KEY]],
    ]);
    const answers: string[] = [];
    const told = async (path: string, body: unknown) => {
      const answer = await post(`${url}${path}`, body);
      const { paymentToken: _token, ...shown } = answer.body;
      answers.push(JSON.stringify(shown), JSON.stringify([...answer.headers]));
      return answer;
    };
    const root = world.root;

    const seed = randomSeed();
    const keys = deriveKeys(seed, { chainId: BigInt(world.chainId), pool: world.pool });
    secrets.set("the payer's seed", [Buffer.from(seed).toString("hex"), Buffer.from(seed).toString("base64url")]);
    secrets.set("the payer's keys", [keys.viewingKey, keys.spendingKey(0), keys.changeKey].flatMap(spellings));
    const account = Wallet.createRandom();
    await (await world.tokenContract.getFunction("mint")(account.address, 10n ** 12n)).wait();
    const deposit = await depositBody(world, account, { ownerTags: [keys.ownerTag(0)], amounts: [20_000n] });
    secrets.set("the depositor's signature", [deposit.r, deposit.s].flatMap(spellingsOf));
    expect((await told("/deposit", { ...deposit, salt: `0x${"11".repeat(32)}` })).status).to.equal(422);
    expect((await told("/deposit", { ...deposit, r: "0x" })).status).to.equal(400);
    expect((await told("/deposit", deposit)).body["status"]).to.equal("success");

    const [paid, refused] = [forgeBundle(world, { root }), forgeBundle(world, { root })];
    const words = ({ proof, amountProof }: WireBundle) => [...proof, ...amountProof];
    secrets.set("proofs", [paid, refused].flatMap(words));
    secrets.set(
      "openings",
      [paid, refused].flatMap((bundle) => spellings(BigInt(bundle.senderCommitment))),
    );
    const tokens = [paid, refused].map(async (bundle) => String((await told("/verify", bundle)).body["paymentToken"]));
    const [token = "", unused = ""] = await Promise.all(tokens);
    secrets.set(
      "tokens",
      [token, unused].flatMap((each) => each.split(".").slice(1)),
    );
    expect((await told("/verify", { ...paid, timestamp: "soon" })).status).to.equal(400);
    expect((await told("/verify", { ...paid, proof: refused.proof })).body["valid"]).to.equal(false);
    expect((await told("/verify", { ...paid, proof: paid.proof.with(0, "1") })).status).to.equal(400);
    expect((await told("/verify", JSON.stringify(paid).slice(0, -9))).status).to.equal(400);
    expect((await told("/settle", settleRequest(paid, unused))).status).to.equal(409);
    expect((await told("/settle", settleRequest(paid, `${token}A`))).status).to.equal(401);
    expect((await told("/settle", settleRequest(paid, token))).body["status"]).to.equal("success");
    expect((await told("/verify", paid)).body["reason"]).to.equal("NULLIFIER_SPENT");
    answers.push(JSON.stringify((await call(`${url}/settle/${claimsOf(token)["jti"]}`)).body));

    const random = new Random("canary");
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const terms = { root, validUntil, amount: 5_000n, nullifiers: [randomField()], recipient: random.address() };
    const made = proveWithdrawal({ chainId: BigInt(world.chainId), pool: world.pool }, random, terms);
    const { proof, signals, recipient, fee, feeRecipient } = made;
    const withdrawal = JSON.parse(
      JSON.stringify({ proof, signals, recipient, fee, feeRecipient, validUntil }, (_key, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      ),
    ) as Record<string, unknown>;
    secrets.set("the withdrawal's proof", proof.map(String));
    expect((await told("/withdraw", { ...withdrawal, fee: "1" })).status).to.equal(422);
    expect((await told("/withdraw", withdrawal)).body["status"]).to.equal("success");

    const { origin } = new URL(url);
    for (const path of ["/metrics", "/readyz", "/healthz", "/openapi.json", "/.well-known/jwks.json", "/nothing"])
      answers.push(await (await fetch(`${origin}${path}`)).text());
    service.child.kill("SIGTERM");
    expect(await service.ended).to.equal(0);

    const log = service.said.join("");
    expect(log).to.include('"route":"/zk/settle"').and.include('"status":409');
    const places = { log, answers: answers.join("\n") };
    const found: string[] = [];
    for (const [what, values] of secrets)
      for (const [place, text] of Object.entries(places))
        if (values.some((value) => text.toLowerCase().includes(value.toLowerCase())))
          found.push(`${what} in the ${place}`);
    expect(found).to.deep.equal([]);
  });

  it("rejects settings without repeating secret values", async () => {
    const right = environment(world, folder);
    const canary = "c0ffee".repeat(9);
    const refusal = async (wrong: Readonly<Record<string, string>>) => {
      const { SOTTO_TOKEN_KEYS: keys = "", ...place } = right;
      const settings = { ...place, ...("SOTTO_TOKEN_KEY" in wrong ? {} : { SOTTO_TOKEN_KEYS: keys }), ...wrong };
      const { said, ended } = start(settings);
      expect(await ended, Object.keys(wrong)[0]!).to.not.equal(0);
      expect(said.join(""), Object.keys(wrong)[0]!)
        .to.match(/[A-Z]+_[A-Z]+/)
        .and.not.include(canary);
      return said.join("");
    };
    const [both] = await Promise.all(
      [
        { SOTTO_RELAYER_KEY: canary, SOTTO_RPC_URLS: `ftp://node.example/${canary}` },
        { SOTTO_TOKEN_KEY: canary },
        { SOTTO_TOKEN_KEY: JSON.stringify({ kty: "OKP", crv: "Ed25519", x: "short", d: canary }) },
        { SOTTO_RPC_URLS: `http://127.0.0.1:1/${canary}` },
        { SOTTO_STORE: `postgres://sotto:${canary}@127.0.0.1:1/sotto` },
      ].map(refusal),
    );
    expect(both).to.include("SOTTO_RELAYER_KEY").and.include("SOTTO_RPC_URLS");
  });
});
