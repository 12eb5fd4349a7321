import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { epochOf } from "@sotto/prepaid";
import { parseDeployment, randomField } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { call } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle } from "@sotto/test-world/bundles";
import { phoneSettings, sentCodes, signPhone } from "@sotto/test-world/phone";
import { openService, openWorld, type TestService } from "@sotto/test-world/service";
import { pay, requirements } from "@sotto/test-world/x402";
import { REASONS } from "@sotto/verifier-service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { newKeys, newMerchant } from "../../packages/prepaid/test/service/support/schedules.ts";
import { newTermsMerchant } from "../../packages/prepaid/test/service/support/terms.ts";
import { depositBody } from "./support/deposits.ts";
import { type Example, expectLike, fill, readExamples } from "./support/examples.ts";

const root = join(import.meta.dirname, "..", "..");
const openApi = readFileSync(join(root, "docs", "openapi.json"), "utf8");

describe("docs/api.md", function () {
  slow(this, "a chain, a service and proofs");
  const text = readFileSync(join(root, "docs", "api.md"), "utf8");
  let service: TestService;
  let values: Map<string, unknown>;
  const folder = temporaryFolder("docs");
  const codeFile = join(folder, "codes");

  before(async () => {
    const world = await openWorld();
    const manifest = join(folder, "deployment.json");
    writeFileSync(manifest, JSON.stringify(parseDeployment(world)));
    service = await openService({
      ...phoneSettings,
      SOTTO_PHONE_CODE_FILE: codeFile,
      SOTTO_DEPLOYMENT: manifest,
      SOTTO_DISCOVERY: "on",
    });
    const root = world.root;
    const account = Wallet.createRandom();
    await (await world.tokenContract.getFunction("mint")(account.address, 1_000_000n)).wait();
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const merchant = newMerchant(world);
    const signed = await merchant.sign(merchant.schedule({ keys: newKeys(2, 1) }));
    const metered = newTermsMerchant(world);
    const terms = await metered.sign(metered.terms({ firstEpoch: epochOf(Date.now()) }));
    const withdrawal = proveWithdrawal({ chainId: BigInt(world.chainId), pool: world.pool }, new Random("docs"), {
      root,
      validUntil,
      amount: 1_000n,
      nullifiers: [randomField()],
      recipient: account.address.toLowerCase(),
    });
    values = new Map<string, unknown>(
      Object.entries({
        ...forgeBundle(world, { root }),
        ...(await depositBody(world, account, {})),
        withdrawalProof: withdrawal.proof,
        withdrawalSignals: withdrawal.signals.map(String),
        withdrawalRecipient: withdrawal.recipient,
        validUntil: String(validUntil),
        relayer: service.relayer,
        ...(await signPhone(service.url, world, account)),
        schedule: signed.schedule,
        scheduleSignature: signed.signature,
        merchantWallet: merchant.wallet,
        terms: terms.terms,
        termsSignature: terms.signature,
        termsWallet: metered.wallet,
        asset: world.token,
        pool: world.pool,
        requirements: requirements(world, service.url),
        payload: pay(world, { root }),
      }),
    );
  });
  after(async () => {
    await service.close();
  });

  const run = async ({ request, status, body }: Example) => {
    const { method, path, headers, text: sent } = request;
    for (const { code } of sentCodes(codeFile)) {
      values.set("sentCode", code);
      values.set("wrongCode", code === "000000" ? "000001" : "000000");
    }
    const init = sent === undefined ? { method, headers } : { method, headers, body: fill(sent, values) };
    const answer = await call(
      `${service.origin}${path.replace(/<(\w+)>/g, (_, name) => String(values.get(name)))}`,
      init,
    );
    expect(answer.status).to.equal(status);
    expectLike(answer.body, body, values);
  };
  for (const [index, example] of readExamples(text).entries())
    it(`example ${index + 1}: ${example.request.method} ${example.request.path} gives ${example.status}`, () =>
      run(example));

  it("has an example of every endpoint of the OpenAPI document, or names it", () => {
    const { paths } = JSON.parse(openApi) as { paths: Record<string, unknown> };
    for (const path of Object.keys(paths)) expect(text, path).to.include(path.replace(/\{(\w+)\}/g, ":$1"));
  });

  it("names every field of every request and response", () => {
    const fields = new Set<string>();
    const collect = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { properties } = schema as { properties?: Record<string, unknown> };
      for (const name of Object.keys(properties ?? {})) fields.add(name);
      for (const value of Object.values(schema)) collect(value);
    };
    collect(JSON.parse(openApi));
    expect([...fields].filter((name) => !new RegExp(`[\`".]${name}[\`"]`).test(text))).to.deep.equal([]);
  });

  it("lists exactly the reasons of verify", () => {
    const [, table = ""] = text.split("The checks, in this order:");
    const [rows = ""] = table.split("Beyond the quota");
    const listed = [...rows.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
    expect(listed.sort()).to.deep.equal([...REASONS].sort());
  });
});

describe("the OpenAPI document", function () {
  slow(this, "a chain, a service and proofs");
  it("is served at the origin and at the base path", async () => {
    const service = closedAfterTest(await openService());
    for (const base of [service.origin, service.url])
      expect(Object.keys((await call(`${base}/openapi.json`)).body["paths"] as object)).to.include("/verify");
  });
});
