// A merchant's schedule of prepaid keys and its terms on their way to mirrors: signed by an account or a contract wallet, and pushed.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { WireSignedSchedule } from "@sotto/prepaid";
import { call } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { contractWallet } from "@sotto/test-world/contract-wallets";
import { expect } from "chai";
import type { Cli } from "./support/cli.ts";
import { type CliWorld, openCli, openCliWorld } from "./support/world.ts";

const ORIGIN = "https://data.example";

describe("sotto prepaid: keys, sign and push", function () {
  slow(this, "a chain, a service and RSA keys");
  let world: CliWorld;
  let merchant: Cli & { account: string };
  let schedule: string;
  let signed: string;
  before(async () => {
    world = await openCliWorld();
    merchant = await openCli(world, 0n);
    schedule = merchant.path("keys/schedule.json");
    signed = merchant.path("keys/schedule.signed.json");
    const values = ["--values", "1000,5000", "--epochs", "2"];
    await merchant.json(["prepaid", "keys", "--origin", ORIGIN, ...values, "--out", merchant.path("keys")]);
    await merchant.json(["prepaid", "sign", "--schedule", schedule]);
  });

  const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as WireSignedSchedule;
  async function mirrored(wallet: string): Promise<WireSignedSchedule[]> {
    const query = new URLSearchParams({ wallet, origin: ORIGIN });
    const { body } = await call(`${world.service.url}/prepaid/schedules?${query}`);
    return (body["schedules"] as WireSignedSchedule[]).map((each) => ({
      schedule: each.schedule,
      signature: each.signature,
    }));
  }

  it("pushes a schedule to the wallet's service and to others, and does nothing the second time", async () => {
    const push = ["prepaid", "push", "--schedule", signed];
    const service = world.service.url;
    expect(await merchant.json(push)).to.deep.equal({ mirrors: [{ service, accepted: 4, known: 0 }] });
    expect(await mirrored(merchant.account)).to.deep.equal([read(signed)]);
    const again = await merchant.json([...push, "--service", service, "--service", service]);
    const known = { service, accepted: 0, known: 4 };
    expect(again).to.deep.equal({ mirrors: [known, known] });
  });

  it("fails if one of the services fails, and says which kept the schedule", async () => {
    const services = ["--service", "http://127.0.0.1:9/zk", "--service", world.service.url];
    const ended = await merchant.run(["prepaid", "push", "--schedule", signed, ...services, "--json"]);
    expect([ended.code, ended.stdout]).to.deep.equal([6, ""]);
    const { error } = JSON.parse(ended.stderr) as { error: { code: string; details: object; message: string } };
    expect(error.code).to.equal("SERVICE_UNREACHABLE");
    expect(error.details).to.include({ kept: world.service.url });
    expect(error.message).to.include("1 of 2 services");
  });

  it("reports a mirror that keeps another key, which then stays", async () => {
    const folder = merchant.path("twice");
    const again = ["--values", "1000", "--epochs", "1", "--out", folder];
    await merchant.json(["prepaid", "keys", "--origin", ORIGIN, ...again]);
    await merchant.json(["prepaid", "sign", "--schedule", `${folder}/schedule.json`]);
    const push = ["prepaid", "push", "--schedule", `${folder}/schedule.signed.json`, "--json"];
    const { code, stderr } = await merchant.run(push);
    expect([code, JSON.parse(stderr).error.code]).to.deep.equal([3, "SERVICE_REFUSED"]);
    expect(JSON.parse(stderr).error.details).to.include({ reason: "PREPAID_SCHEDULE_CONFLICT" });
    expect(await mirrored(merchant.account)).to.deep.equal([read(signed)]);
  });

  it("adds next months' keys to those that a mirror has", async () => {
    const folder = merchant.path("later");
    const extend = ["--extend", merchant.path("keys"), "--epochs", "1", "--out", folder];
    await merchant.json(["prepaid", "keys", ...extend]);
    await merchant.json(["prepaid", "sign", "--schedule", `${folder}/schedule.json`]);
    const pushed = await merchant.json(["prepaid", "push", "--schedule", `${folder}/schedule.signed.json`]);
    expect(pushed).to.deep.equal({ mirrors: [{ service: world.service.url, accepted: 2, known: 0 }] });
    expect(await mirrored(merchant.account)).to.have.length(2);
  });

  it("pushes the terms of metered routes, and reports a mirror that keeps another price", async () => {
    const folder = merchant.path("metered");
    const origin = "https://metered.example";
    await merchant.json([
      ...["prepaid", "keys", "--origin", origin, "--values", "1000", "--epochs", "1", "--out", folder],
    ]);
    const signTerms = async (base: string, out: string) => {
      const rule = { base, units: [{ name: "words", price: "1", per: 1 }], cap: "1000", grain: "1000" };
      writeFileSync(merchant.path("routes.json"), JSON.stringify({ routes: [{ method: "GET", path: "/a", rule }] }));
      const terms = ["--keys", folder, "--routes", merchant.path("routes.json"), "--out", out];
      await merchant.json(["prepaid", "terms", ...terms]);
      await merchant.json(["prepaid", "sign", "--terms", `${out}/terms.json`]);
      return ["prepaid", "push", "--terms", `${out}/terms.signed.json`];
    };
    const service = world.service.url;
    const push = await signTerms("1", folder);
    expect(await merchant.json(push)).to.deep.equal({ mirrors: [{ service, accepted: true }] });
    const again = await merchant.run([...push, "--verbose"]);
    expect([again.stdout, again.code]).to.deep.equal([`${service}: known terms\n`, 0]);
    expect(await merchant.refused([...push, "--schedule", signed], 2)).to.equal("USAGE");
    const other = await merchant.run([...(await signTerms("2", merchant.path("metered-other"))), "--json"]);
    const { error } = JSON.parse(other.stderr) as { error: { code: string; details: object } };
    expect([other.code, error.code]).to.deep.equal([3, "SERVICE_REFUSED"]);
    expect(error.details).to.include({ reason: "PREPAID_TERMS_CONTRADICTED" });
    const query = new URLSearchParams({ wallet: merchant.account, origin });
    const { body } = await call(`${service}/prepaid/terms?${query}`);
    const kept = (body["terms"] as { signature: string }[]).map(({ signature }) => signature);
    expect(kept).to.deep.equal([JSON.parse(readFileSync(`${folder}/terms.signed.json`, "utf8")).signature]);
  });

  it("finishes after kill -9 during the generation of keys, with one set of keys", async () => {
    const folder = merchant.path("killed");
    const args = ["prepaid", "keys", "--origin", "https://killed.example", "--values", "1,2", "--epochs", "2"];
    const stop = { at: /generating keys: 2 of 4/, signal: "SIGKILL" } as const;
    expect((await merchant.start([...args, "--out", folder, "--verbose"], { stop }).ended).code).to.equal(null);
    await merchant.json([...args, "--out", folder]);
    expect(readdirSync(folder).sort()).to.deep.equal(["keys.json", "schedule.json"]);
    expect(await merchant.refused([...args, "--out", folder], 2)).to.equal("FILE_EXISTS");
  });

  it("accepts a contract wallet's signature, and refuses another account's", async () => {
    const wallet = await contractWallet(world);
    const folder = merchant.path("contract");
    const made = ["--values", "1000", "--epochs", "1", "--out", folder, "--wallet", wallet.address];
    await merchant.json(["prepaid", "keys", "--origin", ORIGIN, ...made]);
    const file = `${folder}/schedule.json`;
    const data = (await merchant.json(["prepaid", "sign", "--schedule", file, "--typed-data"])) as Record<
      string,
      never
    >;
    const { EIP712Domain: _, ...types } = data["types"]! as Record<string, never>;
    const signature = await wallet.sign({ ...data, types } as never);
    const wrong = `${signature.slice(0, 10)}${signature[10] === "0" ? "1" : "0"}${signature.slice(11)}`;
    const sign = ["prepaid", "sign", "--schedule", file, "--signature"];
    expect(await merchant.refused([...sign, wrong], 7)).to.equal("INVALID_SIGNATURE");
    await merchant.json([...sign, signature]);
    await merchant.json(["prepaid", "push", "--schedule", `${folder}/schedule.signed.json`]);
    expect(await mirrored(wallet.address)).to.deep.equal([read(`${folder}/schedule.signed.json`)]);
  });

  it("is refused by the mirror if it was changed after it was signed", async () => {
    const changed = merchant.path("changed.json");
    const wire = read(signed);
    writeFileSync(
      changed,
      JSON.stringify({ ...wire, schedule: { ...wire.schedule, origin: "https://other.example" } }),
    );
    expect(await merchant.refused(["prepaid", "push", "--schedule", changed], 3)).to.equal("SERVICE_REFUSED");
  });
});
