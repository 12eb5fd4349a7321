import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_DEPLOYMENT } from "@sotto/server";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { computeAddress } from "ethers";
import { assertKeysAllowed, type Environment, liveConfig, readConfig } from "../../src/config/config.ts";
import { deploymentSettings } from "../../src/config/deployment.ts";
import { withDevelopmentDefaults } from "../../src/config/development.ts";
import { SETTINGS } from "../../src/config/settings.ts";

const KEY = `0x${"11".repeat(32)}`;
const POOL = `0x${"22".repeat(20)}`;
const LEAST: Environment = { SOTTO_CHAIN_ID: "8453", SOTTO_POOL: POOL, SOTTO_RELAYER_KEY: KEY };

const failure = (environment: Environment): { code?: unknown; message: string } => {
  try {
    readConfig(environment);
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was accepted");
};

describe("configuration", () => {
  it("requires only a chain, a pool and a key", () => {
    const config = readConfig(LEAST);
    expect(config).to.include({ chainId: 8453, pool: POOL, port: 8402, basePath: "/zk", local: false });
    expect(config).to.include({
      confirmations: 2,
      blockTimeMs: 12_000,
      relayWaitMs: 48_000,
      settleWaitMs: undefined,
      appendAfterMs: 30_000,
    });
    const local = readConfig({ ...LEAST, SOTTO_CHAIN_ID: "31337" });
    expect(local).to.include({ confirmations: 1, appendAfterMs: 0, relayWaitMs: 10_000, local: true });
  });

  it("leaves discovery off, and delays listings by a day except on a local chain", () => {
    expect(readConfig(LEAST)).to.include({ discovery: "off", discoveryDelayHours: 24, discoveryHostLimit: 20 });
    expect(readConfig({ ...LEAST, SOTTO_CHAIN_ID: "31337" })).to.include({ discoveryDelayHours: 0 });
    const set = { ...LEAST, SOTTO_DISCOVERY: "on", SOTTO_DISCOVERY_DELAY_HOURS: "72" };
    expect(readConfig(set)).to.include({ discovery: "on", discoveryDelayHours: 72 });
    expect(failure({ ...LEAST, SOTTO_DISCOVERY: "yes" }).message).to.include("SOTTO_DISCOVERY must be one of on, off");
  });

  it("names every missing variable", () => {
    const { code, message } = failure({});
    expect(code).to.equal("INVALID_CONFIG");
    for (const variable of ["SOTTO_CHAIN_ID", "SOTTO_POOL", "SOTTO_RELAYER_KEY"]) expect(message).to.include(variable);
  });

  const wrong: [string, string][] = [
    ["SOTTO_PORT", "65536"],
    ["SOTTO_PORT", "08402"],
    ["SOTTO_PORT", "-1"],
    ["SOTTO_BASE_PATH", "zk"],
    ["SOTTO_BASE_PATH", "/zk/../x"],
    ["SOTTO_CHAIN_ID", "0"],
    ["SOTTO_POOL", "0x12"],
    ["SOTTO_TRUST_PROXY", "10.0.0.0/33"],
    ["SOTTO_TRUST_PROXY", "proxy.example"],
    ["SOTTO_TRUST_PROXY", "10.0.0.0/8/8"],
    ["SOTTO_CORS_ORIGINS", "https://data.example/path"],
    ["SOTTO_CORS_ORIGINS", "data.example"],
    ["SOTTO_RPC_URLS", "ws://node"],
    ["SOTTO_RPC_URLS", ","],
    ["SOTTO_STORE", "mysql://x"],
    ["SOTTO_RELAYER_KEY", "0x00"],
    ["SOTTO_RELAYER_KEY", `0x${"00".repeat(32)}`],
    ["SOTTO_MAX_FEE_PER_GAS", "1e9"],
    ["SOTTO_LOG_LEVEL", "loud"],
    ["SOTTO_RECIPIENTS", "0x12"],
    ["SOTTO_SMALLEST_AMOUNT", "0.5"],
    ["SOTTO_DEPOSIT_FEE", "5"],
  ];
  for (const [variable, value] of wrong)
    it(`rejects ${variable}=${value} and names a variable`, () => {
      const { code, message } = failure({ ...LEAST, [variable]: value });
      expect(code).to.equal("INVALID_CONFIG");
      expect(message).to.include(variable);
    });

  it("accepts proxies and origins in all their forms", () => {
    const proxies = "loopback, 10.0.0.0/8,192.0.2.7 , 2001:db8::/32";
    const { trustProxy, corsOrigins } = readConfig({
      ...LEAST,
      SOTTO_TRUST_PROXY: proxies,
      SOTTO_CORS_ORIGINS: "https://a.example,http://b.example:81",
    });
    expect(trustProxy).to.deep.equal(["loopback", "10.0.0.0/8", "192.0.2.7", "2001:db8::/32"]);
    expect(corsOrigins).to.deep.equal(["https://a.example", "http://b.example:81"]);
  });

  it("rejects unknown variables, so that a mistyped one is not silently ignored", () => {
    expect(failure({ ...LEAST, SOTTO_PROT: "1" }).message).to.include("SOTTO_PROT");
  });

  it("never prints secrets", () => {
    const { message } = failure({
      ...LEAST,
      SOTTO_RELAYER_KEY: "0xcanary",
      SOTTO_STORE: "canary://",
      SOTTO_RPC_URLS: "canary",
    });
    expect(message).to.not.include("canary");
  });

  it("reads secrets from files", () => {
    const folder = temporaryFolder("config");
    writeFileSync(join(folder, "key"), `${KEY}\n`);
    const { SOTTO_RELAYER_KEY: _, ...rest } = LEAST;
    expect(readConfig({ ...rest, SOTTO_RELAYER_KEY_FILE: join(folder, "key") }).relayerKeys).to.deep.equal([KEY]);
    const missing = failure({ ...rest, SOTTO_RELAYER_KEY_FILE: join(folder, "nothing") });
    expect(missing.message).to.include("SOTTO_RELAYER_KEY_FILE");
  });

  describe("a remote signer", () => {
    const { SOTTO_RELAYER_KEY: _, ...rest } = LEAST;
    const SECRET = "a secret of 32 characters or more";
    const URL = "https://relayer:canary@signer.example:9000/path";
    const remote = { ...rest, SOTTO_SIGNER_URL: URL, SOTTO_SIGNER_ACCOUNTS: POOL, SOTTO_CLIENT_SECRET: SECRET };
    const fixture = (name: string) => join(import.meta.dirname, "..", "signer", "fixtures", name);
    const files = {
      SOTTO_SIGNER_CA_FILE: fixture("ca.pem"),
      SOTTO_SIGNER_CERTIFICATE_FILE: fixture("client.pem"),
      SOTTO_SIGNER_KEY_FILE: fixture("client-key.pem"),
    };

    it("replaces the key", () => {
      const config = readConfig({ ...remote, ...files });
      expect(config).to.deep.include({
        relayerKeys: [],
        signerUrl: URL,
        signerTimeoutMs: 5_000,
        clientSecret: SECRET,
      });
      expect(config.signerAccounts).to.deep.equal([POOL]);
      for (const pem of [config.signerCa, config.signerCertificate, config.signerCertificateKey])
        expect(pem).to.match(/^-----BEGIN [\s\S]*-----END /);
      const folder = temporaryFolder("config");
      writeFileSync(join(folder, "url"), `${URL}\n`);
      const { SOTTO_SIGNER_URL: __, ...others } = remote;
      expect(readConfig({ ...others, SOTTO_SIGNER_URL_FILE: join(folder, "url") }).signerUrl).to.equal(URL);
    });

    it("needs the account's address, and a secret for quotas that the key is otherwise", () => {
      for (const name of ["SOTTO_SIGNER_URL", "SOTTO_SIGNER_ACCOUNTS", "SOTTO_CLIENT_SECRET"])
        expect(failure({ ...remote, [name]: "" }).message).to.include(`${name} is missing`);
      expect(readConfig(LEAST).clientSecret).to.equal(KEY);
      expect(readConfig({ ...LEAST, SOTTO_CLIENT_SECRET: SECRET }).clientSecret).to.equal(SECRET);
    });

    it("is refused with a public account, half of the files, or files for http; the URL is never shown", () => {
      const hardhat = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
      for (const [change, message] of [
        [{ SOTTO_SIGNER_ACCOUNTS: hardhat }, "SOTTO_SIGNER_ACCOUNTS is a public account"],
        [{ SOTTO_SIGNER_ACCOUNTS: "0x12" }, "SOTTO_SIGNER_ACCOUNTS must be an address"],
        [{ SOTTO_SIGNER_URL: URL.replace("https", "ws") }, "SOTTO_SIGNER_URL must be an http or https URL"],
        [{ SOTTO_SIGNER_URL: URL.replace("https", "http"), ...files }, "SOTTO_SIGNER_URL must be an https URL"],
        [{ ...files, SOTTO_SIGNER_KEY_FILE: "" }, "need each other"],
        [
          { ...files, SOTTO_SIGNER_KEY_FILE: fixture("signer-key.pem") },
          "must be certificates and the second one's key",
        ],
        [{ ...files, SOTTO_SIGNER_CA_FILE: "/nowhere" }, "SOTTO_SIGNER_CA_FILE names a file that cannot be read"],
        [{ ...files, SOTTO_SIGNER_CA_FILE: fixture("../remote.test.ts") }, "SOTTO_SIGNER_CA_FILE must name a PEM file"],
        [{ SOTTO_SIGNER_TIMEOUT_MS: "99" }, "SOTTO_SIGNER_TIMEOUT_MS must be an integer"],
        [{ SOTTO_CLIENT_SECRET: "canary" }, "SOTTO_CLIENT_SECRET must be 32 to 512 characters"],
      ] as const) {
        const { code, message: said } = failure({ ...remote, ...change });
        expect(code, message).to.equal("INVALID_CONFIG");
        expect(said).to.include(message).and.not.include("canary");
      }
      const local = { ...remote, SOTTO_CHAIN_ID: "31337", SOTTO_SIGNER_ACCOUNTS: hardhat };
      expect(readConfig(local).signerAccounts).to.deep.equal([hardhat]);
    });

    it("is not replaced by a key for development", () => {
      const local = { SOTTO_CHAIN_ID: "31337", SOTTO_SIGNER_URL_FILE: "/run/secrets/signer" };
      expect(withDevelopmentDefaults(local)).to.deep.equal(local);
    });
  });

  describe("several accounts of the relayer", () => {
    const OTHER_KEY = `0x${"12".repeat(32)}`;
    const [first, second] = [KEY, OTHER_KEY].map((key) => computeAddress(key).toLowerCase());
    const signer = { SOTTO_SIGNER_URL: "http://signer.example", SOTTO_SIGNER_ACCOUNTS: POOL };

    it("may be keys, accounts of a remote signer, or both; the first key is the clients' secret", () => {
      const keys = { ...LEAST, SOTTO_RELAYER_KEY: `${KEY}, ${OTHER_KEY}` };
      expect(readConfig(keys)).to.deep.include({ relayerKeys: [KEY, OTHER_KEY], clientSecret: KEY });
      expect(readConfig({ ...keys, ...signer })).to.deep.include({ signerAccounts: [POOL], clientSecret: KEY });
      const file = join(temporaryFolder("config"), "keys");
      writeFileSync(file, `${KEY}\n${OTHER_KEY}\n`);
      const fromFile = { ...keys, SOTTO_RELAYER_KEY: undefined, SOTTO_RELAYER_KEY_FILE: file };
      expect(readConfig(fromFile).relayerKeys).to.deep.equal([KEY, OTHER_KEY]);
    });

    it("are each named once, at most 16, and not all draining", () => {
      const many = Array.from({ length: 17 }, (_, index) => `0x${String(index + 10).repeat(20)}`).join();
      for (const [change, message] of [
        [{ SOTTO_RELAYER_KEY: `${KEY},${KEY}` }, `have the account ${first} twice`],
        [{ ...signer, SOTTO_SIGNER_ACCOUNTS: first }, `have the account ${first} twice`],
        [{ ...signer, SOTTO_SIGNER_ACCOUNTS: many }, "have 18 accounts; at most 16 are allowed"],
        [{ SOTTO_RELAYER_KEY: `${KEY},0x00` }, "SOTTO_RELAYER_KEY must be 32 bytes"],
        [{ SOTTO_DRAINING_ACCOUNTS: second }, `SOTTO_DRAINING_ACCOUNTS has ${second}, which is not an account`],
        [{ SOTTO_DRAINING_ACCOUNTS: first }, "SOTTO_DRAINING_ACCOUNTS has all accounts"],
      ] as const) {
        const { code, message: said } = failure({ ...LEAST, ...change });
        expect(code).to.equal("INVALID_CONFIG");
        expect(said).to.include(message).and.not.include(KEY);
      }
      const two = { ...LEAST, SOTTO_RELAYER_KEY: `${KEY},${OTHER_KEY}`, SOTTO_DRAINING_ACCOUNTS: first };
      expect(readConfig(two).drainingAccounts).to.deep.equal([first]);
    });
  });

  it("rejects confirmations that take longer than a minute", () => {
    const slow = { ...LEAST, SOTTO_CONFIRMATIONS: "6", SOTTO_BLOCK_TIME_MS: "12000" };
    expect(failure(slow).code).to.equal("CONFIRMATIONS_TOO_SLOW");
    expect(readConfig({ ...slow, SOTTO_CONFIRMATIONS: "5" }).confirmations).to.equal(5);
  });

  it("rejects public accounts as the relayer, on local chains only if NODE_ENV is production", () => {
    const accounts = [
      "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
      "0xdf57089febbacf7ba0bc227dafbffa9fc08a93fdc68e1e42411a14efcf23656e",
    ];
    const local = { ...LEAST, SOTTO_CHAIN_ID: "31337" };
    for (const key of accounts) {
      expect(failure({ ...LEAST, SOTTO_RELAYER_KEY: key })).to.include({ code: "INVALID_CONFIG" });
      const { message } = failure({ ...local, SOTTO_RELAYER_KEY: key, NODE_ENV: "production" });
      expect(message).to.include("SOTTO_RELAYER_KEY is a public account").and.not.include(key.slice(2));
      expect(readConfig({ ...local, SOTTO_RELAYER_KEY: key })).to.include({ local: true });
      expect(readConfig({ ...local, SOTTO_RELAYER_KEY: key, NODE_ENV: "test" })).to.include({ local: true });
    }
    expect(readConfig({ ...local, NODE_ENV: "production" }), "an account of the operator").to.include({ local: false });
  });

  it("uses no settings for development if NODE_ENV is production", () => {
    const production = { SOTTO_CHAIN_ID: "31337", SOTTO_POOL: POOL, NODE_ENV: "production" };
    expect(withDevelopmentDefaults({ ...production, SOTTO_DEPLOYMENT: LOCAL_DEPLOYMENT })).to.have.all.keys(
      ...Object.keys(production),
      "SOTTO_DEPLOYMENT",
    );
    expect(failure(withDevelopmentDefaults(production)).message).to.include("SOTTO_RELAYER_KEY");
    const config = readConfig({ ...production, SOTTO_RELAYER_KEY: KEY });
    expect(config).to.include({ confirmations: 2, maxHeadAgeMs: 60_000, discoveryDelayHours: 24 });
    expect(() => assertKeysAllowed("development", config))
      .to.throw("nowhere in production")
      .with.property("code", "DEVELOPMENT_KEYS_REFUSED");
    assertKeysAllowed("ceremony/2026", config);
    assertKeysAllowed("development", readConfig({ ...production, SOTTO_RELAYER_KEY: KEY, NODE_ENV: "test" }));
  });

  it("rejects development keys on chains that are not local", () => {
    expect(() => assertKeysAllowed("development", readConfig(LEAST)))
      .to.throw()
      .with.property("code", "DEVELOPMENT_KEYS_REFUSED");
    assertKeysAllowed("development", readConfig({ ...LEAST, SOTTO_CHAIN_ID: "31337" }));
    assertKeysAllowed("ceremony/first", readConfig(LEAST));
  });

  it("describes every setting once, under a unique name", () => {
    const variables = Object.values(SETTINGS).map(({ variable }) => variable);
    expect(new Set(variables).size).to.equal(variables.length);
    for (const { variable, about } of Object.values(SETTINGS)) {
      expect(variable).to.match(/^SOTTO_[A-Z_]+$/);
      expect(about, variable).to.not.equal("");
    }
  });
});

describe("settings that were read again", () => {
  const reread = (before: Environment, after: Environment) => {
    const running = readConfig({ ...LEAST, ...before });
    const { config, changes } = liveConfig(running, readConfig({ ...LEAST, ...after }));
    return { running, config, changes };
  };

  it("are named if they changed themselves, not if a default derives from them", () => {
    for (const [variable, value] of [
      ["SOTTO_BLOCK_TIME_MS", "20000"],
      ["SOTTO_RELAYER_KEY", `0x${"12".repeat(32)}`],
    ] as const) {
      const { running, config, changes } = reread({}, { [variable]: value });
      expect(changes).to.deep.equal({ live: [], fixed: [variable] });
      expect(config).to.deep.equal(running);
    }
  });

  it("apply if they are live, with the running values of those that need a restart", () => {
    const changed = { SOTTO_BLOCK_TIME_MS: "20000", SOTTO_MAX_HELD: "7" };
    const { config, changes } = reread({ SOTTO_MAX_HEAD_AGE_MS: "1000" }, changed);
    expect(changes).to.deep.equal({
      live: ["SOTTO_MAX_HEAD_AGE_MS", "SOTTO_MAX_HELD"],
      fixed: ["SOTTO_BLOCK_TIME_MS"],
    });
    expect(config).to.include({ blockTimeMs: 12_000, maxHeadAgeMs: 60_000, maxHeld: 7 });
    const back = liveConfig(config, readConfig({ ...LEAST, ...changed, SOTTO_MAX_HEAD_AGE_MS: "1000" }));
    expect(back.changes).to.deep.equal({ live: ["SOTTO_MAX_HEAD_AGE_MS"], fixed: ["SOTTO_BLOCK_TIME_MS"] });
    expect(back.config.maxHeadAgeMs).to.equal(1_000);
  });
});

describe("development defaults", () => {
  const LOCAL: Environment = { SOTTO_CHAIN_ID: "31337", SOTTO_POOL: POOL };

  it("configure a relayer account of a local chain", () => {
    expect(readConfig(withDevelopmentDefaults(LOCAL))).to.include({ chainId: 31337, pool: POOL, local: true });
  });

  it("do not override the environment", () => {
    expect(withDevelopmentDefaults({ ...LEAST })).to.deep.equal(LEAST);
  });

  it("provide no key for chains that are not local", () => {
    const { SOTTO_RELAYER_KEY: _, ...rest } = LEAST;
    expect(withDevelopmentDefaults(rest)["SOTTO_RELAYER_KEY"]).to.equal(undefined);
  });
});

describe("artifact sets", () => {
  it("come from the manifest, with chain, pool and block", () => {
    const said = deploymentSettings({ chainId: 84532, pool: POOL, deploymentBlock: 7, set: "ceremony/x" } as never);
    const config = readConfig({ SOTTO_RELAYER_KEY: KEY, ...said });
    expect(config).to.include({ chainId: 84532, pool: POOL, deploymentBlock: 7, artifactSet: "ceremony/x" });
  });
});
