// Compares the guide and the reference with the paywall: the instructions, the options, the codes. test/templates runs its
// programs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseInstructions } from "@sotto/protocol";
import { PAYWALL_ERRORS } from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import { createMerchant } from "@sotto/test-world/paywall/merchant";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { type MerchantWorld, openMerchantWorld } from "@sotto/test-world/paywall/world";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..");
const guide = readFileSync(join(root, "docs", "paywall.md"), "utf8");
const reference = readFileSync(join(root, "docs", "resource-server.md"), "utf8");

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

describe("docs/paywall.md and docs/resource-server.md", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  it("shows the instructions of a server with a phone number, field by field", async () => {
    const example = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(guide)![1]!) as Body;
    const { phone, service } = example.payment.recipient;
    const { addresses } = await createMerchant(world, { phone, service });
    const { binding, signature } = addresses.bindings[0]!;
    const { wallet, key: shieldedAddress, issuedAt } = binding;
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
      expect(guide, name).to.match(new RegExp(`^\\| .*\`${name}\``, "m"));
  });

  it("documents every option and every code", () => {
    const pages = guide + reference;
    const source = (path: string) => readFileSync(join(root, "packages", "resource-server", "src", path), "utf8");
    const fields = (path: string, type: string): string[] => {
      const body = new RegExp(`export interface ${type}\\b[^{]*\\{([\\s\\S]*?)^\\}`, "m").exec(source(path))![1]!;
      return [...body.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name]) => name!);
    };
    const names = [...fields("paywall/options.ts", "PaywallOptions"), ...fields("routes/options.ts", "PriceOptions")];
    const browsers = [...fields("paywall/options.ts", "PageOptions"), ...fields("paywall/options.ts", "CorsOptions")];
    const codes = Object.keys(PAYWALL_ERRORS);
    for (const found of [names, browsers, codes]) expect(found).to.have.length.greaterThan(7);
    for (const name of [...names, ...browsers, ...codes].filter((one) => one !== "clock" && one !== "chain"))
      expect(pages, name).to.include(`\`${name}\``);
  });
});
