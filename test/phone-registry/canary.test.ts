// Full runs of the registry, alone and in the service, including every error. No number, code, key or signature appears
// in their logs and metrics, or in responses to others.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newKey } from "@sotto/phone-registry";
import { bindingSlots } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { contractWallet } from "@sotto/test-world/contract-wallets";
import { sentCodes } from "@sotto/test-world/phone";
import { environment } from "@sotto/test-world/service";
import { startProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { startRegistryProcess } from "./support/process.ts";
import {
  account,
  call,
  linkBody,
  newNumber,
  openWorld,
  post,
  registryEnvironment,
  resolveUrl,
  unlinkBody,
  type World,
} from "./support/world.ts";

const NODE_KEY = "node-key-4f1c0ffee";

interface Run {
  readonly url: string;
  /** Ends the program. @returns its whole output */
  end(): Promise<string>;
}

describe("a full run of the phone registry", function () {
  slow(this, "a chain and a registry's processes");
  let world: World;
  before(async () => {
    world = await openWorld();
  });

  const runs: [string, (folder: string, settings: Record<string, string>) => Promise<Run>][] = [
    [
      "alone",
      async (folder, settings) => {
        const { url, child, said, ended } = await startRegistryProcess(folder, {
          ...registryEnvironment(world),
          ...settings,
        });
        const end = async () => {
          child.kill("SIGTERM");
          expect(await ended).to.equal(0);
          return said.join("");
        };
        return { url, end };
      },
    ],
    [
      "in the service",
      async (folder, settings) => {
        const lines: string[] = [];
        const all = { ...environment(world, folder), SOTTO_PHONE_REGISTRY: "on", ...settings };
        const { url, child, ended } = await startProcess(all, (line) => void lines.push(line));
        const end = async () => {
          child.kill("SIGTERM");
          await ended;
          return lines.join("\n");
        };
        return { url, end };
      },
    ],
  ];

  for (const [where, start] of runs)
    it(`leaks no number, code, wallet or key ${where}`, async () => {
      const folder = temporaryFolder("phone-canary");
      const codeFile = join(folder, "codes");
      const keys = { SOTTO_PHONE_MASTER_KEYS: newKey("m1"), SOTTO_PHONE_INDEX_KEYS: newKey("i1") };
      const service = "http://127.0.0.1:8499/zk";
      const run = await start(folder, {
        ...keys,
        SOTTO_PHONE_STORE: `sqlite:${join(folder, "phone.sqlite")}`,
        SOTTO_PHONE_SENDER: "file",
        SOTTO_PHONE_CODE_FILE: codeFile,
        SOTTO_PUBLIC_URL: service,
        SOTTO_RPC_URLS: `${world.node.url}/?key=${NODE_KEY}`,
        SOTTO_LOG_LEVEL: "debug",
      });
      const secrets = new Map<string, string[]>();
      const others: string[] = [];
      try {
        const place = { service, world };
        const [signer, stranger] = [account(), await contractWallet(world)];
        const [phone, unknown] = [newNumber(), newNumber()];
        const tell = async (path: string, body: unknown, headers = {}) => {
          const answer = await post(`${run.url}${path}`, body, headers);
          // Headers and error bodies must not repeat the input.
          others.push(JSON.stringify([...answer.headers]));
          if (answer.status !== 200) others.push(JSON.stringify(answer.body));
          return answer;
        };
        const [issuedAt = 0] = bindingSlots(Date.now());
        const body = await linkBody(place, signer, phone, { issuedAt });
        expect((await tell("/phone/link", body)).status).to.equal(200);
        const [{ code = "" } = {}] = sentCodes(codeFile);
        const proof = { phoneNumber: phone, walletAddress: signer.address, code };
        const wrong = code === "111111" ? "222222" : "111111";
        expect((await tell("/phone/verify", { ...proof, code: wrong })).status).to.equal(422);
        expect((await tell("/phone/verify", { ...proof, code: `${code}0` })).status).to.equal(400);
        expect((await tell("/phone/verify", proof)).status).to.equal(200);
        expect((await tell("/phone/link", { ...body, issuedAt })).status).to.equal(409);
        expect((await tell("/phone/link", { ...body, phoneNumber: unknown })).status).to.equal(401);
        expect((await tell("/phone/link", { ...body, phoneNumber: `${phone}x` })).status).to.equal(400);
        expect((await tell("/phone/link", JSON.stringify(body).slice(0, -9))).status).to.equal(400);
        expect((await tell(`/phone/link/${phone}`, body)).status).to.equal(404);
        const ofContract = await linkBody(place, stranger, phone);
        expect((await tell("/phone/link", ofContract)).status).to.equal(200);
        for (const path of [phone, `${phone}?also=${phone}`, unknown, `${phone.slice(0, 6)}`]) {
          const answer = await call(`${run.url}/phone/resolve/${path}`);
          others.push(JSON.stringify([...answer.headers]));
        }
        await call(resolveUrl(run, phone), { method: "DELETE" });
        const unlink = await unlinkBody({ ...place, url: run.url } as never, signer, phone);
        expect((await tell("/phone/unlink", { ...unlink, walletAddress: stranger.address })).status).to.equal(401);
        expect((await tell("/phone/unlink", unlink)).status).to.equal(200);
        const { origin } = new URL(run.url);
        for (const path of ["/metrics", "/readyz", "/healthz", "/openapi.json", `/nothing/${phone}`])
          others.push(await (await fetch(`${origin}${path}`)).text());
        for (const number of [phone, unknown])
          secrets.set(`number ${number}`, [number.slice(1), createHash("sha256").update(number).digest("hex")]);
        secrets.set("wallets", [signer.address.slice(2), stranger.address.slice(2)]);
        secrets.set(
          "signatures",
          [body, ofContract, unlink].map(({ signature }) => signature.slice(2, 66)),
        );
        secrets.set("shielded addresses", [body.encryptionPublicKey.slice(2, 66)]);
        secrets.set(
          "codes",
          [...sentCodes(codeFile).map((sent) => sent.code)].map((sent) => `"${sent}"`),
        );
        secrets.set(
          "keys of the registry",
          Object.values(keys).map((key) => key.split(":")[1]!),
        );
        secrets.set("the key of a node", [NODE_KEY]);
      } finally {
        others.push("");
      }
      const log = await run.end();
      expect(log).to.include('"route":"/zk/phone/resolve/:phone"').and.include('"route":"/zk/phone/link"');
      const database = readFileSync(join(folder, "phone.sqlite")).toString("latin1");
      const found: string[] = [];
      const places = { log, "what others see": others.join("\n"), "the database": database };
      for (const [what, values] of secrets)
        for (const [place, text] of Object.entries(places))
          if (values.some((value) => text.toLowerCase().includes(value.toLowerCase())))
            found.push(`${what} in ${place}`);
      expect(found).to.deep.equal([]);
    });
});
