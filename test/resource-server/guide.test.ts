// Tests the guide for resource servers: its server sells, clients accept its signature and its prices, its codes exist.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSeedWords } from "@sotto/client";
import { decodeShieldedAddress, parseDeployment, parseInstructions } from "@sotto/protocol";
import { PAYWALL_ERRORS, type PaywallOptions, type PaywallRecipient } from "@sotto/resource-server";
import { expect } from "chai";
import { Wallet } from "ethers";
import { DocumentedCode } from "../kit/documented-code.ts";
import { slow } from "../kit/slow.ts";
import { createMerchant } from "./support/merchant.ts";
import { openPaywall } from "./support/options.ts";
import { headerOf, showing } from "./support/payments.ts";
import { type MerchantWorld, ORIGIN, openMerchantWorld, pay } from "./support/world.ts";

const root = join(import.meta.dirname, "..", "..");

interface Body {
  readonly payment: { readonly recipient: { readonly phone: string; readonly service: string } };
}
/** Constants, and objects that only group fields. */
const OBVIOUS = ["status", "message", "protocol", "privacy", "method", "payment", "recipient", "metadata"];
OBVIOUS.push("amountEncryption", "senderPrivacy", "proofSystem", "required", "expectedPublicInputs");
/** Names of all fields, at every depth. */
const fieldsOf = (value: object): string[] =>
  Array.isArray(value)
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [
        name,
        ...(typeof inner === "object" && inner !== null ? fieldsOf(inner) : []),
      ]);

describe("docs/resource-server.md", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let code: DocumentedCode;
  before(async () => {
    world = await openMerchantWorld();
    code = new DocumentedCode(import.meta.dirname, "docs/resource-server.md");
  });
  after(() => code?.remove());

  it("type-checks under the strictest settings", () => {
    expect(code.names).to.deep.equal([
      "server.ts",
      "options.ts",
      "sign.ts",
      "prices.ts",
      "page.ts",
      "cors.ts",
      "discovery.ts",
    ]);
    expect(code.complaints()).to.equal("");
  });

  it("leads from seed words and an account to a server that charges for its report", async () => {
    const account = Wallet.createRandom();
    const secrets = { WORDS: createSeedWords(), ACCOUNT_KEY: account.privateKey };
    const printed = code.run("sign.ts", { ...secrets, CHAIN_ID: String(world.chainId), POOL: world.pool });
    const recipient = JSON.parse(printed) as PaywallRecipient;
    code.write("deployment.json", JSON.stringify(parseDeployment(world)));
    // The guide's addresses do not exist.
    const options = readFileSync(code.path("options.ts"), "utf8")
      .replace(/recipient: \{[^}]*\}/, `recipient: ${JSON.stringify(recipient)}`)
      .replace("https://pay.example/zk", world.service)
      .replace("https://node.example", world.node.url)
      .replace("deployment.json", code.path("deployment.json"))
      .replace("payments.sqlite", code.path("payments.sqlite"));
    code.write("options.ts", options);
    await code.serving("server.ts", async (origin) => {
      const url = `${origin}/report`;
      expect((await fetch(url)).status).to.equal(402);
      // A missing page costs nothing.
      expect((await fetch(`${origin}/missing`)).status).to.equal(404);
      const shielded = decodeShieldedAddress(recipient.shieldedAddress);
      const payment = await pay(world, { to: { wallet: account.address.toLowerCase(), shielded }, target: "/report" });
      const headers = showing(headerOf(payment));
      const response = await fetch(url, { headers });
      expect([response.status, await response.text()]).to.deep.equal([200, `paid for ${ORIGIN}/report`]);
      expect((await fetch(url, { headers })).status).to.equal(402);
    });
  });

  it("shows the instructions of a server with a phone number, field by field", async () => {
    const text = readFileSync(join(root, "docs", "resource-server.md"), "utf8");
    const example = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(text)![1]!) as Body;
    const { phone, service } = example.payment.recipient;
    const { wallet, shieldedAddress, signature, issuedAt } = await createMerchant(world, { phone, service });
    const recipient = { wallet, shieldedAddress, signature, issuedAt, phone, service };
    const paywall = await openPaywall(world, { recipient });
    const decision = await paywall.decide({ method: "GET", target: "/report", header: () => [] });
    await paywall.close();
    const { body } = decision as unknown as { body: Body };
    parseInstructions(body);
    expect(body.payment.recipient).to.deep.equal({ ...recipient, encryptedMapping: true });
    // The same fields in the same order, with the same values except for those that differ per server.
    const own = /^(?:0x|https?:|zk_req_)/;
    const shape = (value: object) =>
      JSON.stringify(value, (name, item) =>
        (typeof item === "string" && own.test(item)) || ["issuedAt", "timestamp", "chainId"].includes(name)
          ? typeof item
          : item,
      );
    expect(shape(body)).to.equal(shape(example));
    for (const name of fieldsOf(example).filter((field) => !OBVIOUS.includes(field)))
      expect(text, name).to.match(new RegExp(`^\\| .*\`${name}\``, "m"));
  });

  it("has price functions that work as documented", async () => {
    const { prices } = (await import(code.path("prices.ts"))) as { prices: Partial<PaywallOptions> };
    const paywall = await openPaywall(world, prices);
    const asked = async (target: string, method = "GET"): Promise<unknown> => {
      const decision = await paywall.decide({ method, target, header: () => [] });
      if (decision.kind !== "refused") return decision.kind;
      const { payment } = decision.body as { payment?: { amountBaseUnits: string } };
      return payment?.amountBaseUnits ?? decision.status;
    };
    const cases = [
      ...[
        ["/", "10000"],
        ["/reports/7", "250000"],
        ["/Reports/7/", "250000"],
        ["/archive/1", "2000000"],
      ],
      ...[
        ["/search?deep=yes", "50000"],
        ["/search", "5000"],
        ["/health", "free"],
        ["/terms/of/use", "free"],
      ],
      ...[
        ["/Health", "10000"],
        ["/webhook", "10000"],
        ["//", 400],
        ["/%68ealth", 400],
      ],
    ] as const;
    for (const [target, cost] of cases) expect(await asked(target), target).to.equal(cost);
    expect([await asked("/webhook", "POST"), await asked("/health", "POST")]).to.deep.equal(["free", "10000"]);
    expect([await asked("/archive/1", "HEAD"), await asked("/archive/1", "PUT")]).to.deep.equal(["2000000", "10000"]);
    await paywall.close();
  });

  it("documents every option and every code", () => {
    const guide = readFileSync(join(root, "docs", "resource-server.md"), "utf8");
    const source = (path: string) => readFileSync(join(root, "packages", "resource-server", "src", path), "utf8");
    const fields = (path: string, type: string): string[] => {
      const body = new RegExp(`export interface ${type}\\b[^{]*\\{([\\s\\S]*?)^\\}`, "m").exec(source(path))![1]!;
      return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name!);
    };
    const names = [...fields("paywall/options.ts", "PaywallOptions"), ...fields("routes/options.ts", "PriceOptions")];
    const browsers = [...fields("paywall/options.ts", "PageOptions"), ...fields("paywall/options.ts", "CorsOptions")];
    const codes = Object.keys(PAYWALL_ERRORS);
    expect([names.length, browsers.length, codes.length]).to.deep.equal([17, 8, 8]);
    for (const name of [...names, ...browsers, ...codes].filter((one) => one !== "clock" && one !== "chain"))
      expect(guide, name).to.include(`\`${name}\``);
  });
});
