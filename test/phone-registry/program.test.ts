// The registry as a program: start, key rotation and erasure while it serves, and kills at any moment.

import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newKey } from "@sotto/phone-registry";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { sentCodes } from "@sotto/test-world/phone";
import { expect } from "chai";
import { type RegistryProcess, runRegistry, startRegistryProcess } from "./support/process.ts";
import {
  account,
  call,
  linkBody,
  NO_LIMITS,
  newNumber,
  openWorld,
  post,
  registryEnvironment,
  resolveUrl,
  type Signer,
  type World,
} from "./support/world.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 30 : 4;

describe("the phone registry as a program", function () {
  slow(this, "a chain and a registry's processes");
  let world: World;
  let folder: string;
  let settings: Record<string, string>;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    world = await openWorld();
    folder = temporaryFolder("phone-program");
    settings = {
      ...registryEnvironment(world),
      ...NO_LIMITS,
      SOTTO_PHONE_STORE: `sqlite:${join(folder, "phone.sqlite")}`,
      SOTTO_PHONE_CODE_FILE: join(folder, "codes"),
      SOTTO_PHONE_MASTER_KEYS: newKey("m1"),
      SOTTO_PHONE_INDEX_KEYS: newKey("i1"),
      // The base URL in signatures does not change with a restart.
      SOTTO_PUBLIC_URL: "http://127.0.0.1:8403/zk",
    };
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  async function start(): Promise<RegistryProcess> {
    const registry = await startRegistryProcess(folder, settings);
    children.push(registry.child);
    return registry;
  }
  const signedFor = () => ({ service: settings["SOTTO_PUBLIC_URL"]!, world });
  const codeFor = (signer: Signer) =>
    sentCodes(join(folder, "codes")).findLast(({ walletAddress }) => walletAddress === signer.address)?.code;
  async function linkAndVerify({ url }: { url: string }, signer: Signer, phone: string) {
    const linked = await post(`${url}/phone/link`, await linkBody(signedFor(), signer, phone));
    expect(linked.status).to.equal(200);
    const proof = { phoneNumber: phone, walletAddress: signer.address, code: codeFor(signer) };
    expect((await post(`${url}/phone/verify`, proof)).body["verified"]).to.equal(true);
  }

  it("reads its settings again on SIGHUP, and keeps those in use if one is wrong", async () => {
    const file = join(folder, "registry.env");
    const all = settings;
    const write = (changes: Record<string, string>) =>
      writeFileSync(
        file,
        Object.entries({ ...all, ...changes })
          .map(([name, value]) => `${name}=${value}\n`)
          .join(""),
      );
    write({});
    settings = { SOTTO_SETTINGS_FILE: file };
    const registry = await start();
    settings = all;
    const reload = async (changes: Record<string, string>, expected: string) => {
      write(changes);
      registry.child.kill("SIGHUP");
      await eventually(async () => registry.said.join("").includes(expected));
    };
    const [signer, phone] = [account(), newNumber()];
    const link = async () =>
      (await post(`${registry.url}/phone/link`, await linkBody(signedFor(), signer, phone))).status;
    expect(await link()).to.equal(200);
    await reload({ SOTTO_PHONE_CODES_WALLET: "1/600", SOTTO_PHONE_LINKED_PERCENT: "91" }, "INVALID_CONFIG");
    expect(await link()).to.equal(200);
    await reload({ SOTTO_PHONE_CODES_WALLET: "1/600" }, '"changed":["SOTTO_PHONE_CODES_WALLET"]');
    // Without a limit, nothing was counted before.
    expect([await link(), await link()]).to.deep.equal([200, 429]);
    await reload({ SOTTO_RPC_URLS: "http://127.0.0.1:1" }, "NODE_UNREACHABLE");
    await reload({ SOTTO_PHONE_UNVERIFIED: "hide" }, '"settings":["SOTTO_PHONE_UNVERIFIED"]');
    expect(await link()).to.equal(200);
  });

  it("prints its address and what to sign, serves, and stops on SIGTERM", async () => {
    const registry = await start();
    const [signer, phone] = [account(), newNumber()];
    await linkAndVerify(registry, signer, phone);
    expect((await call(resolveUrl(registry, phone))).body["wallet"]).to.equal(signer.address);
    const { origin } = new URL(registry.url);
    for (const base of [origin, registry.url]) {
      expect((await call(`${base}/readyz`)).body["ready"]).to.equal(true);
      expect((await call(`${base}/healthz`)).body).to.deep.equal({ status: "ok" });
      const { paths } = (await call(`${base}/openapi.json`)).body as { paths: object };
      expect(Object.keys(paths)).to.include.members(["/phone/link", "/phone/resolve/{phone}", "/phone/verify"]);
    }
    expect(registry.said.join("")).to.include("wallets sign http://127.0.0.1:8403/zk");
    registry.child.kill("SIGTERM");
    expect(await registry.ended).to.equal(0);
    expect(registry.said.join("")).to.not.include(phone.slice(1));
  });

  it("reports invalid settings in one line", () => {
    const { status, stdout, stderr } = runRegistry(folder, { ...settings, SOTTO_PHONE_UNVERIFIED: "maybe" }, []);
    expect([status, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.match(/^sotto: INVALID_CONFIG: SOTTO_PHONE_UNVERIFIED [^\n]+\n$/);
    const elsewhere = runRegistry(folder, { ...settings, SOTTO_CHAIN_ID: "1337" }, []);
    expect(elsewhere.stderr).to.match(/^sotto: WRONG_CHAIN: [^\n]+\n$/);
    const away = runRegistry(folder, { ...settings, SOTTO_RPC_URLS: "http://127.0.0.1:1" }, []);
    expect(away.stderr).to.match(/^sotto: CHAIN_UNAVAILABLE: [^\n]+\n$/);
    expect(runRegistry(folder, settings, ["dance"]).stderr).to.include("sotto-phone-registry [command]");
  });

  it("re-encrypts everything under new keys while it serves", async () => {
    const old = { ...settings };
    const registry = await start();
    const people = Array.from({ length: 5 }, () => [account(), newNumber()] as const);
    for (const [signer, phone] of people) await linkAndVerify(registry, signer, phone);
    registry.child.kill("SIGTERM");
    await registry.ended;
    const [master, index] = [newKey("m2"), newKey("i2")];
    settings["SOTTO_PHONE_MASTER_KEYS"] = `${master},${old["SOTTO_PHONE_MASTER_KEYS"]}`;
    settings["SOTTO_PHONE_INDEX_KEYS"] = `${index},${old["SOTTO_PHONE_INDEX_KEYS"]}`;
    const serving = await start();
    const found = async ({ url }: { url: string }) => {
      for (const [signer, phone] of people)
        expect((await call(resolveUrl({ url }, phone))).body["wallet"]).to.equal(signer.address);
    };
    await found(serving);
    const before = JSON.parse(runRegistry(folder, settings, ["keys"]).stdout) as Record<string, unknown>;
    expect(before).to.include({ master: 5, index: 5 });
    const rotated = runRegistry(folder, settings, ["rotate"]);
    expect(JSON.parse(rotated.stdout)).to.include({ master: 0, index: 0 });
    expect(rotated.stderr).to.equal("");
    await found(serving);
    await linkAndVerify(serving, account(), newNumber());
    serving.child.kill("SIGTERM");
    await serving.ended;
    settings["SOTTO_PHONE_MASTER_KEYS"] = master;
    const without = await start();
    await found(without);
  });

  it("forgets a number on an administrator's request, without printing it", async () => {
    const registry = await start();
    const [signer, phone] = [account(), newNumber()];
    await linkAndVerify(registry, signer, phone);
    const { status, stdout, stderr } = runRegistry(folder, settings, ["erase"], `${phone}\n`);
    expect([status, stderr]).to.deep.equal([0, ""]);
    expect(JSON.parse(stdout)).to.include({ mappings: 1 });
    expect((await call(resolveUrl(registry, phone))).status).to.equal(404);
    const wrong = runRegistry(folder, settings, ["erase"], "not a number\n");
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr).to.match(/^sotto: INVALID_PHONE_NUMBER: /);
  });

  it("audits all links and detects a removed one", async () => {
    const registry = await start();
    for (let count = 0; count < 2; count += 1) await linkAndVerify(registry, account(), newNumber());
    const check = (command = "check") => runRegistry(folder, settings, [command]);
    const first = check();
    expect(first.stderr).to.equal("");
    expect(JSON.parse(first.stdout)).to.include({ links: 2 });
    const database = new DatabaseSync(join(folder, "phone.sqlite"));
    database.exec("DELETE FROM phone_mappings WHERE id = (SELECT id FROM phone_mappings LIMIT 1)");
    database.close();
    expect(check().stderr).to.match(/^sotto: RECORD_TAMPERED: [^\n]+\n$/);
    expect(check("accept").status).to.equal(0);
    expect(JSON.parse(check().stdout)).to.include({ links: 1 });
  });

  it("creates keys that it accepts", () => {
    const { stdout } = runRegistry(folder, {}, ["new-key", "2026-11"]);
    expect(stdout).to.match(/^2026-11:[0-9a-f]{64}\n$/);
    expect(runRegistry(folder, {}, ["new-key", "Not An Id"]).status).to.equal(1);
  });

  it("stays consistent if killed at any moment", async () => {
    let registry = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const [kept, moved, phone, other] = [account(), account(), newNumber(), newNumber()];
      await linkAndVerify(registry, kept, phone);
      const linked = await post(`${registry.url}/phone/link`, await linkBody(signedFor(), moved, phone));
      expect(linked.status).to.equal(200);
      const proof = { phoneNumber: phone, walletAddress: moved.address, code: codeFor(moved) };
      const { url, child, ended } = registry;
      const body = await linkBody(signedFor(), account(), other);
      const requests = [
        post(`${url}/phone/verify`, proof),
        post(`${url}/phone/link`, body),
        call(resolveUrl(registry, phone)),
      ];
      const underWay = Promise.allSettled(requests);
      // Kill before any response, or after one, two or all responses.
      let answered = 0;
      const wanted = round % 4;
      await new Promise<void>((resolve) => {
        if (wanted === 0) setTimeout(resolve, round);
        const tell = () => void (++answered === wanted && resolve());
        for (const request of requests) request.then(tell, () => undefined);
      });
      child.kill("SIGKILL");
      expect(await ended).to.equal("SIGKILL");
      const [verified] = await underWay;
      registry = await start();
      const { wallet, verified: proven } = (await call(resolveUrl(registry, phone))).body;
      // A request that was answered took effect. A request that was not answered took effect completely or not at all.
      if (verified?.status === "fulfilled" && verified.value.status === 200) expect(wallet).to.equal(moved.address);
      else expect([kept.address, moved.address]).to.include(wallet);
      expect(proven).to.equal(true);
      // A number whose link was interrupted can be linked again.
      await linkAndVerify(registry, account(), other);
    }
  });
});
