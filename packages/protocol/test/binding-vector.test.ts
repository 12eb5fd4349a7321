import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { TypedDataEncoder, Wallet } from "ethers";
import { bindingDigest, bindingTypedData, type ShieldedAddressBinding, verifyBindingSignature } from "../src/index.ts";

/** A known-answer vector for other implementations. The account's private key is 1. */
const binding: ShieldedAddressBinding = {
  phone: "+14155550100",
  wallet: "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
  key:
    "0x2c16ca1c7a7be4e485154f98afb50b9c15a16e55b368193f44ed32a28cecab8f" +
    "12a18a4b68cea539706aff9d3751dfb00e6741a8d9c6ffe8b69f42f3addcfe9d",
  chainId: 31337n,
  pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  service: "https://phones.example/zk",
  issuedAt: 1_800_000_000,
};
const DIGEST = "0x5b5620316a782c4dfce3ffcb67c2880b416ae70bdefad23f85ae75a717f45041";

describe("the test vector of a binding", () => {
  it("never changes, because old signatures must stay valid", async () => {
    expect(bindingDigest(binding)).to.equal(DIGEST);
    const { domain, types, message } = bindingTypedData(binding);
    expect(TypedDataEncoder.hash(domain, types, message)).to.equal(DIGEST);
    const account = new Wallet(`0x${"1".padStart(64, "0")}`);
    const signature = account.signingKey.sign(DIGEST).serialized;
    expect(await account.signTypedData(domain, types, message)).to.equal(signature);
    const noChain = async () => "";
    expect(await verifyBindingSignature(binding, signature, noChain)).to.equal(true);
  });

  it("has the struct that docs/protocol.md names", () => {
    const { types, domain } = bindingTypedData(binding);
    const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "protocol.md"), "utf8");
    expect(page).to.include(`\`${TypedDataEncoder.from({ ...types }).encodeType("ShieldedAddressBinding")}\``);
    expect(page).to.include(`\`{ name: "${domain.name}", version: "${domain.version}" }\``);
  });
});
