// `npm run dev` over three starts: which services answer, which state the next start keeps, and how it shuts down.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerOf } from "@sotto/command/ports";
import { decodeHead } from "@sotto/origins";
import { PREPAID_KEYS_PATH } from "@sotto/prepaid";
import {
  addMonths,
  addressInSchedule,
  bindingSlots,
  bindingTypedData,
  type DeploymentManifest,
  monthAt,
  monthRange,
  parseAddress,
  parseDeployment,
  parseInstructions,
  parseOffers,
  parseSchedule,
  parseViewingKeys,
  scheduleDigest,
} from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { createSeedWords, seedFromWords, shieldedAddressOf } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Interface } from "ethers";
import { busyPorts, type Dev, freePorts, RUNNING, rpc, startDev } from "./support/dev.ts";

interface HostConfiguration {
  readonly deployment: DeploymentManifest;
  readonly nodes: readonly string[];
  readonly service: string;
  readonly registry: string;
  readonly faucet: string;
  readonly merchants: readonly { name: string; url: string; price: string; recipient: string }[];
}

const TOKEN = new Interface(["function balanceOf(address) view returns (uint256)"]);
const PHONE = "+4915112345679";

describe("npm run dev", function () {
  slow(this, "processes, a chain and proofs");
  const folder = temporaryFolder("dev");
  const user = Account.createRandom().address;
  let port: number;
  let dev: Dev;
  let host: HostConfiguration;
  let firstBlock: string;
  /** When the last start began, ms. */
  let started: number;

  const start = async (...args: readonly string[]) => {
    started = Date.now();
    dev = startDev("--port", String(port), "--state", folder, ...args);
    await dev.until(RUNNING);
    host = (await (await fetch(`http://127.0.0.1:${port}/sotto.json`)).json()) as HostConfiguration;
  };
  const chain = () => host.nodes[0]!;
  /** The account with whose key the curator signs. */
  const curatorKey = () => readFileSync(join(folder, "curator.txt"), "utf8").trim();
  const blockHash = async (number: string) =>
    (await rpc<{ hash: string }>(chain(), "eth_getBlockByNumber", number, false)).hash;
  const tokens = async (address: string) => {
    const call = { to: host.deployment.token, data: TOKEN.encodeFunctionData("balanceOf", [address]) };
    return BigInt(await rpc<string>(chain(), "eth_call", call, "latest"));
  };
  const drip = (body: unknown, init: RequestInit = {}) =>
    fetch(`${host.faucet}/drip`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...init,
    });

  before(async () => {
    port = await freePorts();
    await start();
    firstBlock = await blockHash("0x1");
  });
  after(async () => {
    dev.child.kill("SIGTERM");
    await dev.ended;
  });

  it("prints every address in lines of at most 80 characters", () => {
    const table = dev.output().slice(dev.output().indexOf("  web app"));
    for (const address of [`http://127.0.0.1:${port}`, chain(), host.service, ...host.merchants.map(({ url }) => url)])
      expect(table).to.contain(address);
    const lines = table.split("\n").map((line) => line.replaceAll(folder, ".dev"));
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
  });

  it("serves sotto.json with the content policy, and runs a ready service and merchants that charge", async () => {
    const { headers } = await fetch(`http://127.0.0.1:${port}/sotto.json`);
    expect(headers.get("content-security-policy")).to.contain("default-src 'none'");
    expect(parseDeployment(host.deployment)).to.include({ network: "local", set: "development", chainId: 31337 });
    expect(await rpc(chain(), "eth_chainId")).to.equal("0x7a69");
    expect((await fetch(`${host.service}/readyz`)).status).to.equal(200);
    expect(host.registry).to.equal(host.service);
    expect(host.merchants).to.have.lengthOf(2);
    for (const { url, price, recipient } of host.merchants) {
      const response = await fetch(url);
      expect(response.status).to.equal(402);
      const { payment } = parseInstructions(await response.json());
      expect(String(payment.amount)).to.equal(price);
      expect(payment.recipient.wallet).to.equal(recipient);
      const { schedule } = parseSchedule(await (await fetch(new URL(payment.schedule!.path, url))).json());
      expect(scheduleDigest(schedule)).to.equal(payment.schedule!.digest);
      expect(addressInSchedule(schedule, monthAt(Date.now()))).to.equal(payment.recipient.shieldedAddress);
    }
    // The second one sells prepaid tokens.
    const [news, weather] = await Promise.all(
      host.merchants.map(async ({ url }) => parseOffers(await (await fetch(url)).json()).get("prepaid")),
    );
    expect(news).to.equal(undefined);
    expect(weather).to.include({ value: "20000" });
    const { schedules } = await (await fetch(new URL(PREPAID_KEYS_PATH, host.merchants[1]!.url))).json();
    expect(schedules).to.have.lengthOf(1);
  });

  it("runs a model that charges for its tokens", async () => {
    const model = `http://127.0.0.1:${port + 6}/v1`;
    expect(dev.output()).to.contain(model);
    const { data } = (await (await fetch(`${model}/models`)).json()) as { data: { id: string }[] };
    const chat = { model: data[0]!.id, messages: [{ role: "user", content: "hello" }] };
    const response = await fetch(`${model}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(chat),
    });
    expect(response.status).to.equal(402);
    expect(parseOffers(await response.json()).get("metered")).to.include({ cap: "20000" });
  });

  it("runs a curator: the merchants ask for its set, and the service mirrors its heads", async () => {
    const url = `http://127.0.0.1:${port + 7}/origins`;
    const key = curatorKey();
    expect(dev.output()).to.contain(url);
    for (const merchant of host.merchants) {
      const { payment } = (await (await fetch(merchant.url)).json()) as { payment: { origins: object[] } };
      expect(payment.origins).to.deep.equal([{ curator: url, key, name: "dev", maxAgeMs: 3_600_000 }]);
    }
    const read = async (base: string) => {
      const response = await fetch(`${base}/head.json`);
      return response.status === 200 ? decodeHead(await response.json()) : undefined;
    };
    const { head } = (await eventually(() => read(url)))!;
    const { chainId, pool } = host.deployment;
    expect(head).to.include({ chainId, pool: parseAddress(pool), curator: key.toLowerCase(), name: "dev" });
    const mirrored = await eventually(() => read(`${host.service}/origins/${key}/dev`));
    expect(mirrored!.head).to.include({ curator: head.curator, name: "dev" });
  });

  it("lets pages of any origin pay, and shows people a page that links to the wallet", async () => {
    const origin = `http://127.0.0.1:${port}`;
    for (const { url } of host.merchants) {
      const asks = {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-payment-proof",
      };
      const preflight = await fetch(url, { method: "OPTIONS", headers: asks });
      expect(preflight.headers.get("access-control-allow-origin")).to.equal("*");
      expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).to.contain("x-payment-proof");
      const headers = { "sec-fetch-dest": "document", accept: "text/html" };
      const page = await fetch(url, { headers });
      expect(page.status).to.equal(402);
      expect(await page.text()).to.contain(`${origin}/#/wallet/pay?url=${encodeURIComponent(url)}`);
    }
  });

  it("sends test tokens to an address, and ETH if requested", async () => {
    const response = await drip({ address: user });
    expect(response.status).to.equal(200);
    expect(response.headers.get("access-control-allow-origin")).to.equal("*");
    expect(await tokens(user)).to.equal(100_000_000n);
    expect(await rpc(chain(), "eth_getBalance", user, "latest")).to.equal("0x0");
    expect((await drip({ address: user.toLowerCase(), eth: true })).status).to.equal(200);
    expect(await tokens(user)).to.equal(200_000_000n);
    expect(BigInt(await rpc<string>(chain(), "eth_getBalance", user, "latest"))).to.equal(10n ** 18n);
  });

  it("rejects malformed token requests, and too many requests for one address", async () => {
    const wrong: readonly [unknown, string][] = [
      ["{", "not JSON"],
      ["[]", "object"],
      ["null", "object"],
      [{}, "address"],
      [{ address: user.slice(0, -1) }, "20 bytes"],
      [{ address: `0x${"00".repeat(20)}` }, "zero"],
      [{ address: "0x52908400098527886E0F7030069857D2E4169Ee7" }, "checksum"],
      [{ address: user, eth: "yes" }, "eth"],
      [{ address: user, amount: "5" }, "amount"],
    ];
    for (const [body, message] of wrong) {
      const response = await drip(body);
      expect(response.status, message).to.equal(400);
      expect(await response.json())
        .to.include({ code: "INVALID_BODY" })
        .and.to.have.property("message")
        .that.contains(message);
    }
    expect((await drip("x".repeat(1_025))).status).to.equal(413);
    expect((await fetch(`${host.faucet}/drip`)).status).to.equal(405);
    expect((await fetch(`${host.faucet}/other`, { method: "POST" })).status).to.equal(404);
    expect((await drip("", { method: "OPTIONS", body: null })).headers.get("access-control-allow-headers")).to.equal(
      "content-type",
    );
    const other = Account.createRandom().address;
    for (let count = 0; count < 20; count++) expect((await drip({ address: other })).status).to.equal(200);
    const refused = await drip({ address: other });
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 3_600);
    expect(await tokens(other)).to.equal(2_000_000_000n);
  });

  it("shows the code that the phone registry sends", async () => {
    const account = Account.createRandom();
    const deployment = { chainId: 31337n, pool: parseAddress(host.deployment.pool) };
    const key = shieldedAddressOf(seedFromWords(createSeedWords()), deployment);
    const binding = { ...deployment, phone: PHONE, wallet: parseAddress(account.address), key, service: host.registry };
    const issuedAt = bindingSlots(Date.now())[0]!;
    const { domain, types, message } = bindingTypedData({ ...binding, issuedAt });
    const link = {
      phoneNumber: PHONE,
      walletAddress: binding.wallet,
      encryptionPublicKey: key,
      signature: await account.signTypedData(domain, types, message),
      issuedAt,
    };
    const headers = { "content-type": "application/json" };
    const linked = await fetch(`${host.registry}/phone/link`, { method: "POST", headers, body: JSON.stringify(link) });
    expect(linked.status, await linked.text()).to.be.below(300);
    const [, code] = await dev.until(/code (\d{6,8}) for \+4915112345679/);
    const proof = JSON.stringify({ phoneNumber: PHONE, walletAddress: binding.wallet, code });
    const verified = await fetch(`${host.registry}/phone/verify`, { method: "POST", headers, body: proof });
    expect(verified.status).to.equal(200);
  });

  it("names the process that occupies a port, and refuses to start twice with the same state", async () => {
    const own = temporaryFolder("dev");
    const busy = startDev("--port", String(port - 1), "--state", own);
    expect(await busy.ended).to.equal(1);
    expect(busy.output()).to.match(/^sotto: PORT_BUSY: port \d+ \(\w+\) is in use by \S+ \(process \d+\); .*--port\n$/);
    const second = startDev("--port", String(await freePorts()), "--state", folder);
    expect(await second.ended).to.equal(1);
    expect(second.output()).to.match(/^sotto: DEV_RUNNING: .*\n$/);
  });

  it("restarts a process that exited", async () => {
    const owner = await ownerOf(port + 2);
    process.kill(Number(/process (\d+)/.exec(owner ?? "")?.[1]), "SIGKILL");
    await dev.until(/the resource servers ended \(SIGKILL\); it starts again in 1 s/);
    await eventually(() =>
      fetch(host.merchants[0]!.url).then(
        ({ status }) => status === 402,
        () => false,
      ),
    );
  });

  it("stops everything on Ctrl-C, and the next start continues with the same chain and wallets", async () => {
    const before = host;
    const head = await rpc<string>(chain(), "eth_blockNumber");
    const hash = await blockHash(head);
    const key = curatorKey();
    dev.child.kill("SIGINT");
    expect(await dev.ended).to.equal(130);
    expect(await busyPorts(port)).to.deep.equal([]);
    // As if the contracts had changed.
    writeFileSync(join(folder, "contracts.sha256"), "");
    await start("--traffic", "1");
    await dev.until(/the contracts have changed since this pool was deployed; --fresh deploys them/);
    expect(host).to.deep.equal(before);
    expect(curatorKey()).to.equal(key);
    expect(await blockHash(head)).to.equal(hash);
    expect(await tokens(user)).to.equal(200_000_000n);
    expect(dev.output()).to.contain("--fresh starts over");
  });

  it("makes paid requests, one of whose payers shows origins, and stops its processes if it is killed", async () => {
    await dev.until(/^[1-9]\d* paid requests, \d\.\d\d a second$/m);
    // The merchants tell the curator which payments showed its set.
    await eventually(async () => {
      const { head } = decodeHead(JSON.parse(readFileSync(join(folder, "origins", "head.json"), "utf8")));
      return head.claims > 0;
    });
    const { keys } = parseViewingKeys(readFileSync(join(folder, "viewing-key.json"), "utf8"), host.deployment);
    const months = keys.map(({ month }) => month);
    const last = months.at(-1)!;
    expect(months).to.deep.equal(monthRange(addMonths(last, -24), last));
    expect(last).to.be.oneOf([monthAt(started), monthAt(Date.now())]);
    dev.child.kill("SIGKILL");
    expect(await dev.ended).to.equal("SIGKILL");
    await eventually(async () => (await busyPorts(port)).length === 0);
  });

  it("refuses to start if the circuits have changed, and starts over with --fresh", async () => {
    const before = host;
    const key = curatorKey();
    writeFileSync(join(folder, "keys.sha256"), "");
    const outdated = startDev("--port", String(port), "--state", folder);
    expect(await outdated.ended).to.equal(1);
    expect(outdated.output()).to.match(/^sotto: STATE_OUTDATED: .*--fresh\n$/m);
    await start("--fresh");
    expect(await blockHash("0x1")).not.to.equal(firstBlock);
    expect(await tokens(user)).to.equal(0n);
    expect(host.merchants[0]!.recipient).not.to.equal(before.merchants[0]!.recipient);
    expect(curatorKey()).not.to.equal(key);
    dev.child.kill("SIGTERM");
    expect(await dev.ended).to.equal(143);
    expect(await busyPorts(port)).to.deep.equal([]);
  });
});
