// docs/phone-registry.md and the phone section of the client's README: numbers are linked, resolved and paid.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMonthAddresses } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Guide } from "./guide.ts";
import { openTemplates } from "./needs.ts";
import { type Prepared, prepare } from "./prepared.ts";
import type { World } from "./world.ts";

const PHONE = "+4915112340001";
const README_PHONE = "+4915112345678";
const SECRET = "0123456789abcdef0123456789abcdef";
/** Sends one code with the registry's own sender, and one with another secret. */
const SEND = (url: string) => `
import { WebhookSender } from "@sotto/phone-registry";
const message = { phone: "${PHONE}", code: "123456", wallet: "0x${"ab".repeat(20)}", expiresAt: Date.now() + 60_000 };
const send = (secret) => new WebhookSender({ url: "${url}/codes", secret, timeoutMs: 60_000, tries: 1 }).send(message);
await send("${SECRET}");
console.log(await send("x".repeat(32)).catch(({ code }) => code));
`;

describe("phone numbers", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let prepared: Prepared;
  before(async () => {
    world = await openTemplates();
    prepared = await prepare(world);
  });

  describe("docs/phone-registry.md", () => {
    let guide: Guide;
    before(async () => {
      guide = await Guide.open(world, "docs/phone-registry.md");
      prepared.give(guide);
    });

    it("has only code blocks that run", () => {
      expect(guide.unnamed).to.deep.equal([]);
      expect(guide.names).to.deep.equal(["link.js", "resolve.js", "webhook.js", "registry.js"]);
    });

    it("links and resolves a number, and refuses one of another pool", async () => {
      expect(await guide.run("link.js")).to.equal("enter-code\n");
      const unproven = await guide.attempt("resolve.js");
      expect([unproven.code, /not linked|not proven/.test(unproven.output)], unproven.output).to.deep.equal([1, true]);
      const { schedule } = parseMonthAddresses(JSON.parse(readFileSync(join(guide.folder, "addresses.json"), "utf8")));
      const verified = await fetch(`${world.environment["SOTTO_SERVICE"]}/phone/verify`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ phoneNumber: PHONE, walletAddress: schedule.wallet, code: world.lastCode(PHONE) }),
      });
      expect(verified.status, await verified.text()).to.equal(200);
      expect(await guide.run("resolve.js")).to.match(/^pay 0x[0-9a-fA-F]{40} at 0x[0-9a-f]{8}\.\.\n$/);
      const program = readFileSync(join(guide.folder, "resolve.js"), "utf8");
      const elsewhere = `const pool = "0x${"11".repeat(20)}";\nconst { chainId } =`;
      guide.provide("resolve-elsewhere.js", program.replace("const { chainId, pool } =", elsewhere));
      const { code, output } = await guide.attempt("resolve-elsewhere.js");
      expect(output).to.include("not this number, chain, pool and registry");
      expect(code).to.equal(1);
    });

    it("receives codes: only signed ones", async () => {
      guide.environment["WEBHOOK_SECRET"] = SECRET;
      await guide.serving("webhook.js", async (url) => {
        guide.provide("send.js", SEND(url));
        expect(await guide.run("send.js")).to.equal("CODE_NOT_SENT\n");
      });
    });

    it("starts a registry with a sender of its own", async () => {
      const { chainId, pool } = JSON.parse(readFileSync(join(guide.folder, "deployment.json"), "utf8"));
      guide.environment = {
        SOTTO_PORT: "0",
        SOTTO_CHAIN_ID: String(chainId),
        SOTTO_POOL: pool,
        SOTTO_RPC_URLS: world.environment["SOTTO_NODE"]!,
        SOTTO_PHONE_STORE: "sqlite::memory:",
        SOTTO_PHONE_SENDER: "file",
        SOTTO_PHONE_KEYS: "phone-keys.json",
      };
      guide.provide("start.js", 'await import("./registry.js");\nprocess.exit(0);\n');
      expect(await guide.run("start.js")).to.match(/^http:\/\/127\.0\.0\.1:\d+\/zk\n$/);
    });
  });

  describe("packages/client/README.md", () => {
    it("links a number and pays it", async () => {
      const guide = await Guide.open(world, "packages/client/README.md");
      prepared.give(guide);
      const code = eventually(async () => world.lastCode(README_PHONE)).then((digits) => `${digits}\n`);
      expect(await guide.run("link-phone.ts", code)).to.match(/^code: /);
      expect(await guide.run("pay-phone.ts")).to.match(/^0x[0-9a-f]{64}\n$/);
    });
  });
});
