// The registry names every wrong setting before it opens anything, and repeats no secret.

import { statSync } from "node:fs";
import { join } from "node:path";
import { newKey, phoneExtension, REGISTRY_SETTINGS, readRegistryConfig } from "@sotto/phone-registry";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { type Environment, readConfig } from "@sotto/verifier-service";
import { expect } from "chai";
import { account, linkVerified, newNumber, openTestRegistry } from "./support/world.ts";

const [master, index] = [newKey("m1"), newKey("i1")];
const POOL = `0x${"22".repeat(20)}`;
const RIGHT: Record<string, string> = {
  SOTTO_CHAIN_ID: "8453",
  SOTTO_POOL: POOL,
  SOTTO_PUBLIC_URL: "https://pay.example/zk",
  SOTTO_PHONE_MASTER_KEYS: master,
  SOTTO_PHONE_INDEX_KEYS: index,
  SOTTO_PHONE_WEBHOOK_URL: "https://sms.example/codes",
  SOTTO_PHONE_WEBHOOK_SECRET: "0123456789abcdef0123456789abcdef",
};
const failure = (environment: Record<string, string | undefined>): { code?: unknown; message: string } => {
  try {
    readRegistryConfig(environment);
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was accepted");
};

describe("phone registry configuration", function () {
  slow(this, "a chain and a registry's processes");
  it("is complete with a deployment, keys and a webhook", () => {
    const { phone, port } = readRegistryConfig(RIGHT);
    expect(phone).to.include({ chainId: 8453n, pool: POOL, service: "https://pay.example/zk", local: false });
    expect(phone).to.include({ unverified: "show", signedLookups: false, countries: undefined });
    expect(phone.sender).to.include({ kind: "webhook", url: "https://sms.example/codes", tries: 3 });
    expect(phone.keys?.master[0]).to.include({ id: "m1" });
    expect(port).to.equal(8403);
  });

  it("normalizes the registry's base URL", () => {
    for (const written of ["https://Pay.example/zk", "https://pay.example:443/zk/"])
      expect(readRegistryConfig({ ...RIGHT, SOTTO_PUBLIC_URL: written }).phone.service).to.equal(
        RIGHT["SOTTO_PUBLIC_URL"],
      );
  });

  it("names every missing variable", () => {
    const { code, message } = failure({ SOTTO_CHAIN_ID: "8453", SOTTO_POOL: POOL });
    expect(code).to.equal("INVALID_CONFIG");
    for (const name of ["MASTER_KEYS", "INDEX_KEYS", "WEBHOOK_URL", "WEBHOOK_SECRET"])
      expect(message).to.include(`SOTTO_PHONE_${name} is missing`);
    expect(message).to.include("SOTTO_PUBLIC_URL");
    expect(failure({}).message).to.include("SOTTO_CHAIN_ID").and.include("SOTTO_POOL");
  });

  const wrong: [string, string][] = [
    ["SOTTO_PUBLIC_URL", "http://pay.example/zk"],
    ["SOTTO_PUBLIC_URL", "https://pay.example/zk?x=1"],
    ["SOTTO_PUBLIC_URL", "https://me:word@pay.example/zk"],
    ["SOTTO_PUBLIC_URL", `https://pay.example/${"z".repeat(250)}`],
    ["SOTTO_PHONE_MASTER_KEYS", "m1:1234"],
    ["SOTTO_PHONE_MASTER_KEYS", "11".repeat(32)],
    ["SOTTO_PHONE_MASTER_KEYS", `M1:${"11".repeat(32)}`],
    ["SOTTO_PHONE_MASTER_KEYS", [1, 2, 3, 4, 5].map((n) => newKey(`k${n}`)).join()],
    ["SOTTO_PHONE_INDEX_KEYS", master],
    ["SOTTO_PHONE_INDEX_KEYS", ","],
    ["SOTTO_PHONE_SENDER", "pigeon"],
    ["SOTTO_PHONE_SENDER", "file"],
    ["SOTTO_PHONE_SENDER", "log"],
    ["SOTTO_PHONE_WEBHOOK_URL", "http://sms.example/codes"],
    ["SOTTO_PHONE_WEBHOOK_URL", "https://user:password@sms.example/codes"],
    ["SOTTO_PHONE_WEBHOOK_URL", "file:///etc/passwd"],
    ["SOTTO_PHONE_WEBHOOK_SECRET", "short"],
    ["SOTTO_PHONE_WEBHOOK_TRIES", "0"],
    ["SOTTO_PHONE_DEFAULT_COUNTRY", "Germany"],
    ["SOTTO_PHONE_DEFAULT_COUNTRY", "de"],
    ["SOTTO_PHONE_COUNTRIES", "DE,XX"],
    ["SOTTO_PHONE_UNVERIFIED", "maybe"],
    ["SOTTO_PHONE_SIGNED_LOOKUPS", "yes"],
    ["SOTTO_PHONE_LOOKUPS_CLIENT", "60"],
    ["SOTTO_PHONE_LOOKUPS_CLIENT", "60/0"],
    ["SOTTO_PHONE_LOOKUPS_CLIENT", "-1/60"],
    ["SOTTO_PHONE_CODES_NUMBER", ","],
    ["SOTTO_PHONE_RANGE_DIGITS", "9"],
    ["SOTTO_PHONE_STORE", "mysql://x"],
    ["SOTTO_PHONE_PENDING_SECONDS", "1"],
    ["SOTTO_PHONE_LOCKUPS_CLIENT", "60/60"],
  ];
  for (const [variable, value] of wrong)
    it(`rejects ${variable}=${value.slice(0, 40)} and names it`, () => {
      const { code, message } = failure({ ...RIGHT, [variable]: value });
      expect(code).to.equal("INVALID_CONFIG");
      expect(message).to.include(variable);
    });

  it("rejects development senders if NODE_ENV is production, even on a local chain", () => {
    const local = { SOTTO_CHAIN_ID: "31337", SOTTO_POOL: POOL, SOTTO_PHONE_SENDER: "file" };
    expect(readRegistryConfig(local).phone.sender.kind).to.equal("file");
    expect(failure({ ...local, NODE_ENV: "production" }).message).to.include("SOTTO_PHONE_SENDER");
  });

  it("never shows secrets", () => {
    const { message } = failure({
      ...RIGHT,
      SOTTO_PHONE_MASTER_KEYS: "canary",
      SOTTO_PHONE_INDEX_KEYS: "x:canary",
      SOTTO_PHONE_WEBHOOK_SECRET: "canary",
      SOTTO_PHONE_WEBHOOK_URL: "canary",
      SOTTO_PHONE_STORE: "canary://",
    });
    expect(message).to.include("SOTTO_PHONE_WEBHOOK_SECRET").and.not.include("canary");
  });

  it("describes every setting once", () => {
    const variables = Object.values(REGISTRY_SETTINGS).map(({ variable }) => variable);
    expect(new Set(variables).size).to.equal(variables.length);
  });

  it("accepts several keys, the current one first", () => {
    const keys = `${newKey("m2")},${master}`;
    const { phone } = readRegistryConfig({ ...RIGHT, SOTTO_PHONE_MASTER_KEYS: keys });
    expect(phone.keys?.master.map(({ id }) => id)).to.deep.equal(["m2", "m1"]);
  });

  it("creates and keeps private keys on a local chain", async () => {
    const folder = temporaryFolder("phone");
    const settings = {
      SOTTO_PHONE_STORE: `sqlite:${join(folder, "phone.sqlite")}`,
      SOTTO_PHONE_KEYS: join(folder, "keys", "phone.json"),
    };
    const [signer, phone] = [account(), newNumber()];
    const first = await openTestRegistry(settings);
    await linkVerified(first, signer, phone);
    await first.close();
    expect(statSync(settings.SOTTO_PHONE_KEYS).mode & 0o777).to.equal(0o600);
    const second = await openTestRegistry(settings);
    try {
      expect((await second.resolve(phone)).body["wallet"]).to.equal(signer.address);
    } finally {
      await second.close();
    }
  });

  it("applies within a service that mounts the registry, and is rejected by a service that does not", () => {
    const service = { ...RIGHT, SOTTO_RELAYER_KEY: `0x${"11".repeat(32)}` };
    const read = (environment: Environment) => readConfig(environment, [phoneExtension]);
    const [phone] = read({ ...service, SOTTO_PHONE_REGISTRY: "on" }).extensions;
    expect(phone?.settings).to.include({ phoneRegistry: "on", phoneSender: "webhook" });
    expect(() => read(service)).to.throw("SOTTO_PHONE_MASTER_KEYS");
    const off = { SOTTO_CHAIN_ID: "8453", SOTTO_POOL: POOL, SOTTO_RELAYER_KEY: service.SOTTO_RELAYER_KEY };
    expect(read(off).extensions[0]?.settings).to.include({ phoneRegistry: "off" });
    expect(() => read({ ...off, SOTTO_PHONE_REGISTRY: "on" })).to.throw("SOTTO_PHONE_INDEX_KEYS");
  });
});
