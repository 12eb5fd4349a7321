import { expect } from "chai";
import { LOCAL_DEPLOYMENT, withDeployment } from "../../src/config/deployment.ts";
import type { Environment } from "../../src/config/read.ts";

const POOL = `0x${"ab".repeat(20)}`;
const OTHER = `0x${"33".repeat(20)}`;
const contract = (address: string) => ({ address, codeHash: `0x${"ab".repeat(32)}` });
const others = ["paymentVerifier", "withdrawalVerifier", "noteAppendVerifier", "noteHasher"];
const manifest = {
  version: 1,
  network: "base-sepolia",
  set: "ceremony/autumn-2026",
  chainId: 84532,
  pool: POOL,
  token: OTHER,
  deploymentBlock: 77,
  smallestDeposit: "10000",
  contracts: Object.fromEntries([["pool", contract(POOL)], ...others.map((name) => [name, contract(OTHER)])]),
  verificationKeys: { payment: "cd".repeat(32) },
};

describe("a deployment's manifest as settings", () => {
  const files: Record<string, string> = { good: JSON.stringify(manifest), cut: "{", other: "{}" };
  const read = (path: string) => files[path];
  const says = ({ chainId, pool, set }: { chainId: number; pool: string; set: string }) => ({
    SOTTO_CHAIN_ID: String(chainId),
    SOTTO_POOL: pool,
    SOTTO_ARTIFACT_SET: set,
  });
  const open = (environment: Environment) => withDeployment(environment, says, read);
  const refused = (environment: Environment): string => {
    try {
      open(environment);
    } catch (error) {
      expect((error as { code?: unknown }).code).to.equal("INVALID_CONFIG");
      return (error as Error).message;
    }
    throw new Error("it was accepted");
  };

  it("adds the settings of the manifest to the environment", () => {
    const found = open({ SOTTO_DEPLOYMENT: "good", SOTTO_PORT: "1" });
    expect(found).to.include({ SOTTO_CHAIN_ID: "84532", SOTTO_POOL: POOL, SOTTO_ARTIFACT_SET: "ceremony/autumn-2026" });
    expect(found).to.include({ SOTTO_DEPLOYMENT: "good", SOTTO_PORT: "1" });
    const own = { SOTTO_POOL: POOL };
    expect(open(own)).to.equal(own);
  });

  it("is reported with the next step if missing", () => {
    for (const none of [{}, { SOTTO_DEPLOYMENT: "" }, { SOTTO_CHAIN_ID: "31337", SOTTO_POOL: "" }])
      expect(refused(none)).to.equal(
        "no pool is configured: set SOTTO_DEPLOYMENT or SOTTO_POOL, or run `npm run deploy:local`, which deploys a pool on a " +
          "local chain and writes .sotto/deployment.json",
      );
  });

  it("defaults to the local one", () => {
    const local = (path: string) => (path === LOCAL_DEPLOYMENT ? files["good"] : undefined);
    expect(withDeployment({}, says, local)).to.include({ SOTTO_DEPLOYMENT: LOCAL_DEPLOYMENT, SOTTO_POOL: POOL });
    const own = { SOTTO_POOL: OTHER };
    expect(withDeployment(own, says, local)).to.equal(own);
    expect(() => withDeployment({ NODE_ENV: "production" }, says, local)).to.throw("no pool is configured");
    expect(() => withDeployment({}, says, () => "{")).to.throw(LOCAL_DEPLOYMENT);
  });

  it("is rejected if unreadable, or if it contradicts the environment", () => {
    expect(refused({ SOTTO_DEPLOYMENT: "none" })).to.include("does not exist");
    expect(refused({ SOTTO_DEPLOYMENT: "cut" })).to.include("not JSON");
    expect(refused({ SOTTO_DEPLOYMENT: "other" })).to.include("not a manifest");
    const contradiction = refused({ SOTTO_DEPLOYMENT: "good", SOTTO_CHAIN_ID: "1", SOTTO_ARTIFACT_SET: "development" });
    expect(contradiction).to.include("SOTTO_CHAIN_ID").and.include("SOTTO_ARTIFACT_SET");
    // The same address in another spelling is not a contradiction.
    const shouted = { SOTTO_DEPLOYMENT: "good", SOTTO_POOL: POOL.toUpperCase().replace("0X", "0x") };
    expect(open(shouted)["SOTTO_POOL"]).to.equal(POOL);
  });
});
