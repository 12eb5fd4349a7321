import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { DEPLOYMENT_CONTRACTS, parseDeployment } from "../src/index.ts";

const POOL = `0x${"5a".repeat(20)}`;
const contract = (address: string) => ({ address, codeHash: `0x${"ab".repeat(32)}` });
const MANIFEST = {
  version: 1,
  network: "base-sepolia",
  set: "ceremony/autumn-2026",
  chainId: 84532,
  pool: POOL,
  token: `0x${"7b".repeat(20)}`,
  deploymentBlock: 12_345,
  smallestDeposit: "10000",
  contracts: Object.fromEntries(
    DEPLOYMENT_CONTRACTS.map((name, i) => [name, contract(name === "pool" ? POOL : `0x${String(i).repeat(40)}`)]),
  ),
  verificationKeys: { payment: "cd".repeat(32), note_append: "ef".repeat(32) },
};

describe("deployment manifests", () => {
  it("are parsed without unknown fields", () => {
    expect(parseDeployment(JSON.parse(JSON.stringify({ ...MANIFEST, extra: 1 })))).to.deep.equal({
      ...MANIFEST,
      finality: undefined,
    });
  });

  it("may state the finality for wallets", () => {
    expect(parseDeployment({ ...MANIFEST, finality: 12 }).finality).to.equal(12);
  });

  const without = (name: string) => Object.fromEntries(Object.entries(MANIFEST).filter(([field]) => field !== name));
  for (const name of Object.keys(MANIFEST))
    it(`require ${name}`, () => {
      expectCode("DEPLOYMENT_INVALID", () => parseDeployment(without(name)));
    });

  it("are rejected with any malformed field", () => {
    const contracts = (changed: object) => ({ ...MANIFEST.contracts, ...changed });
    const changes: object[] = [
      { version: 2 },
      { network: "Base Sepolia" },
      { network: "../etc" },
      { set: "practice/toy" },
      { set: "ceremony/" },
      { chainId: 0 },
      { chainId: "84532" },
      { pool: "0x12" },
      { token: null },
      { deploymentBlock: -1 },
      { smallestDeposit: 10_000 },
      { finality: -1 },
      { finality: 1_001 },
      { finality: "2" },
      { smallestDeposit: "1e4" },
      { contracts: [] },
      { contracts: contracts({ pool: contract(`0x${"11".repeat(20)}`) }) },
      { contracts: contracts({ noteHasher: { address: POOL, codeHash: "0xab" } }) },
      { contracts: contracts({ paymentVerifier: undefined }) },
      { verificationKeys: {} },
      { verificationKeys: { "../x": "cd".repeat(32) } },
      { verificationKeys: { payment: "CD".repeat(32) } },
    ];
    for (const change of changes) expectCode("DEPLOYMENT_INVALID", () => parseDeployment({ ...MANIFEST, ...change }));
    for (const junk of [null, 42, [], "text", undefined]) expectCode("DEPLOYMENT_INVALID", () => parseDeployment(junk));
    expectCode("DEPLOYMENT_INVALID", () => parseDeployment(Object.create(MANIFEST)));
  });
});
