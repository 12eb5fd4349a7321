// The alerts' causes, with the real service: each one changes the metrics so that its alert selects them, beyond its threshold.

import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { createRegistry } from "@sotto/server";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { post } from "@sotto/test-kit/http";
import { startPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { Web3Signer } from "@sotto/test-kit/web3-signer";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { phoneSettings } from "@sotto/test-world/phone";
import {
  artifacts,
  createOwnWorld,
  environment,
  openService,
  openWorld,
  relayerKey,
  type TestService,
  type World,
} from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { Wallet } from "ethers";
import { readAlerts, type Series, selectorsOf, selects, seriesOf } from "./support/alerts.ts";
import { scrape } from "./support/scrape.ts";

const alerts = readAlerts();
const HUGE = String(10n ** 30n);

/** The values that each selector of an alert selects, in the order of its expression. */
function valuesOf(alert: string, series: readonly Series[]): number[][] {
  const { expr } = alerts.find((each) => each.alert === alert)!;
  const scraped = series.map(({ labels, ...each }) => ({ ...each, labels: { ...labels, job: "sotto" } }));
  return selectorsOf(expr).map((selector) =>
    scraped.filter((each) => selects(selector, each)).map(({ value }) => value),
  );
}

const sum = (values: readonly number[] = []): number => values.reduce((total, value) => total + value, 0);

/**
 * Waits until the services' metrics raise an alert.
 * @param raised gets one number for each selector of the alert @param fold makes it from the values that are selected
 */
const raises = (
  services: readonly Pick<TestService, "metricsUrl">[],
  alert: string,
  raised: (...values: number[]) => boolean,
  fold: (values: readonly number[]) => number = sum,
) =>
  eventually(async () => {
    const series = (await Promise.all(services.map(scrape))).flat();
    return raised(...valuesOf(alert, series).map(fold));
  });

/** The alerts on the cause of unreadiness that a service's series select. @param expected whether there must be a cause */
async function causesOf(service: Pick<TestService, "metricsUrl">, expected = true): Promise<string[]> {
  const series = await eventually(async () => {
    const found = await scrape(service);
    return found.some(({ metric, value }) => metric === "sotto_ready" && value === Number(!expected)) && found;
  });
  return alerts
    .filter(
      ({ alert, expr }) =>
        selectorsOf(expr)[0]?.metric === "sotto_unready_cause" && sum(valuesOf(alert, series)[0]) > 0,
    )
    .map(({ alert }) => alert);
}

/** Number of the newest block that a service has read. */
function newestBlock({ folder }: TestService): number {
  const database = new DatabaseSync(join(folder, "store.sqlite"), { readOnly: true });
  const { newest } = database.prepare("select max(number) as newest from blocks").get() as { newest: number };
  database.close();
  return newest;
}

describe("the cause of an alert", function () {
  slow(this, "chains, databases and services");
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  const open = async (settings: Record<string, string> = {}, clock?: () => number) =>
    closedAfterTest(await openService(settings, clock));
  const verified = async ({ url }: Pick<TestService, "url">, on = world) => {
    const bundle = forgeBundle(on, { root: on.root });
    const { body } = await post(`${url}/verify`, bundle);
    return settleRequest(bundle, body["paymentToken"]);
  };

  it("is here for every alert but one, whose metric Prometheus sets itself", function () {
    const titles: string[] = [];
    this.test!.parent!.eachTest(({ title }) => void titles.push(title));
    const caused = new Set(titles.flatMap((title) => title.match(/\bSotto\w+/g) ?? []));
    expect(alerts.map(({ alert }) => alert).filter((alert) => !caused.has(alert))).to.deep.equal(["SottoDown"]);
  });

  const CAUSES: Readonly<Record<string, Record<string, string>>> = {
    SottoBalanceTooLow: { SOTTO_LEAST_BALANCE: HUGE },
    SottoGasTooExpensive: { SOTTO_MAX_FEE_PER_GAS: "1" },
    SottoBudgetSpent: { SOTTO_GAS_BUDGET: "1", SOTTO_QUOTAS_BEYOND_BUDGET: "allow" },
    SottoNewestBlockOld: { SOTTO_MAX_HEAD_AGE_MS: "1" },
  };
  for (const [alert, settings] of Object.entries(CAUSES))
    it(`raises ${alert}, and no other alert on the cause: ${Object.keys(settings)[0]}`, async () => {
      expect(await causesOf(await open(settings))).to.deep.equal([alert]);
    });

  it("raises SottoNoNode if the only node hangs, and no alert about what depends on it", async () => {
    const node = await FaultyNode.start(world.node.url);
    closedAfterTest({ close: () => node.stop() });
    const service = await open({ SOTTO_RPC_URLS: node.url, SOTTO_RPC_TIMEOUT_MS: "500" });
    expect(await causesOf(service, false)).to.deep.equal([]);
    node.mode = "hangs";
    expect(await causesOf(service)).to.deep.equal(["SottoNoNode"]);
  });

  it("raises SottoNoDatabase and SottoExtensionFails if the databases stop", async () => {
    const postgres = await startPostgres();
    const [store, phones] = [await postgres.database(), await postgres.database()];
    const service = await open({ SOTTO_STORE: store });
    const registry = await open({ ...phoneSettings, SOTTO_PHONE_STORE: phones });
    for (const each of [service, registry]) expect(await causesOf(each, false)).to.deep.equal([]);
    await postgres.stop();
    expect(await causesOf(service)).to.deep.equal(["SottoNoDatabase"]);
    expect(await causesOf(registry)).to.deep.equal(["SottoExtensionFails"]);
  });

  it("raises SottoArtifactsDamaged if a proving key disappears", async () => {
    const folder = join(temporaryFolder("artifacts"), "build");
    for (const path of readdirSync(artifacts, { recursive: true, encoding: "utf8" }).toSorted()) {
      const [from, to] = [join(artifacts, path), join(folder, path)];
      if (statSync(from).isDirectory()) mkdirSync(to, { recursive: true });
      else {
        mkdirSync(join(to, ".."), { recursive: true });
        symlinkSync(from, to);
      }
    }
    const service = await open({ SOTTO_ARTIFACTS: folder });
    expect(await causesOf(service, false)).to.deep.equal([]);
    rmSync(join(folder, "payment", "payment.zkey"));
    expect(await causesOf(service)).to.deep.equal(["SottoArtifactsDamaged"]);
  });

  for (const [alert, key] of [
    ["SottoSignerFails", undefined],
    ["SottoAccountFails", relayerKey()],
  ] as const)
    it(`raises ${alert} if the remote signer has stopped, with ${key === undefined ? "no other" : "another"} account`, async () => {
      const remote = relayerKey();
      const signer = await Web3Signer.start([remote]);
      const service = await open({
        SOTTO_RELAYER_KEY: key ?? "",
        SOTTO_SIGNER_URL: signer.url,
        SOTTO_SIGNER_ACCOUNTS: new Wallet(remote).address.toLowerCase(),
        SOTTO_SIGNER_TIMEOUT_MS: "500",
        SOTTO_CLIENT_SECRET: "a secret of 32 characters or more",
      });
      expect(await causesOf(service, false)).to.deep.equal([]);
      await signer.close();
      await raises([service], alert, (failing) => failing === 1);
      const causes = await causesOf(service, key !== undefined ? false : undefined);
      expect(causes).to.deep.equal(key === undefined ? [alert] : []);
    });

  it("raises SottoNoLeader and SottoRelayerStuck if a replica holds the lease and does nothing", async () => {
    let ahead = 0;
    const service = await open({}, () => Date.now() + ahead);
    await raises([service], "SottoNoLeader", (leaders) => leaders === 1);
    expect(await causesOf(service, false)).to.deep.equal([]);
    const database = new DatabaseSync(join(service.folder, "store.sqlite"));
    database.exec("pragma busy_timeout = 20000");
    database.exec("update leases set holder = 'another replica', expires_at = expires_at + 3600000");
    await raises([service], "SottoNoLeader", (leaders) => leaders === 0);
    // A minute passes for the service, and for its database.
    ahead = 61_000;
    database.exec("update rounds set ended_at = ended_at - 60000");
    database.close();
    expect(await causesOf(service)).to.deep.equal(["SottoRelayerStuck"]);
  });

  it("raises SottoSeveralLeaders if two services have separate databases", async () => {
    await raises([await open(), await open()], "SottoSeveralLeaders", (leaders) => leaders > 1);
  });

  it("raises SottoBalanceFalls while the service is still ready", async () => {
    const service = await open({ SOTTO_LEAST_BALANCE: String(5_000n * 10n ** 18n) });
    expect(await causesOf(service, false)).to.deep.equal([]);
    await raises([service], "SottoBalanceFalls", (balance, least) => balance > 0 && balance < 3 * least);
  });

  it("raises SottoBudgetFalls before the budget is spent", async () => {
    const settings = { ...environment(world, temporaryFolder("budget")), SOTTO_QUOTAS_BEYOND_BUDGET: "allow" };
    const generous = await open(settings);
    const { body } = await post(`${generous.url}/settle`, await verified(generous));
    expect(body["status"]).to.equal("success");
    const { fee } = (await world.provider.getTransactionReceipt(String(body["txSignature"])))!;
    await generous.close();
    const service = await open({ ...settings, SOTTO_GAS_BUDGET: String((fee * 11n) / 10n) });
    await raises([service], "SottoBudgetFalls", (gas, budget) => gas > 0.8 * budget && gas < budget);
  });

  it("raises SottoFlood and SottoProofsRefused if a client sends more wrong proofs than are verified", async () => {
    const service = await open();
    const [wrong, other] = [1, 2].map(() => forgeBundle(world, { root: world.root }));
    const bundle = { ...wrong!, proof: other!.proof };
    const send = () => post(`${service.url}/verify`, bundle);
    expect((await send()).body["reason"]).to.equal("INVALID_PROOF");
    let floods = true;
    const flood = async () => {
      while (floods) await Promise.allSettled(Array.from({ length: 1_500 }, send));
    };
    const flooding = flood();
    try {
      await raises([service], "SottoFlood", (waiting, max) => max > 0 && waiting > 0.5 * max);
      await raises([service], "SottoProofsRefused", (refused) => refused > 0);
    } finally {
      floods = false;
      await flooding;
    }
  });

  it("raises SottoReloadRefused if the settings that are read again are wrong", async () => {
    const service = await open();
    expect(
      await service.reload(() => {
        throw new Error("a wrong setting");
      }),
    ).to.equal(false);
    const series = await scrape(service);
    expect(valuesOf("SottoReloadRefused", series)).to.deep.equal([[0]]);
  });

  it("raises SottoVersionsDiffer if two replicas have different versions", async () => {
    const manifest = join(temporaryFolder("version"), "package.json");
    writeFileSync(manifest, JSON.stringify({ name: "@sotto/verifier-service", version: "0.0.0-older" }));
    const older = seriesOf(await createRegistry(pathToFileURL(manifest)).metrics());
    const versions = (series: readonly Series[]) =>
      new Set(series.flatMap(({ metric, labels }) => (metric === "sotto_build_info" ? [labels["version"]] : [])));
    const [one, two] = [await scrape(await open()), await scrape(await open())];
    expect(versions([...one, ...two]).size).to.equal(1);
    expect(versions([...one, ...older]).size).to.equal(2);
    expect(valuesOf("SottoVersionsDiffer", [...one, ...older])).to.deep.equal([[1, 1]]);
  });

  it("raises SottoNodePaused and SottoNodeBehind for a node that is behind", async () => {
    const node = await FaultyNode.start(world.node.url);
    closedAfterTest({ close: () => node.stop() });
    const service = await open({ SOTTO_RPC_URLS: `${world.node.url},${node.url}` });
    const count = (values: readonly number[]) => values.length;
    await raises([service], "SottoNodeBehind", (compared) => compared === 2, count);
    for (let block = 0; block < 8; block += 1) await world.provider.send("evm_mine", []);
    node.lag = 7;
    node.mode = "isBehind";
    await raises([service], "SottoNodeBehind", (lag) => lag > 5);
    await raises([service], "SottoNodePaused", (paused) => paused === 1);
  });

  it("raises SottoServerErrors if a route answers with errors", async () => {
    const service = await open({ SOTTO_LEAST_BALANCE: HUGE });
    await causesOf(service);
    expect((await post(`${service.url}/verify`, forgeBundle(world, { root: world.root }))).status).to.equal(503);
    await raises([service], "SottoServerErrors", (failed, all) => failed > 0.05 * all);
  });

  it("raises SottoRestarts with each start, by another time", async () => {
    const settings = environment(world, temporaryFolder("restarts"));
    const times: number[] = [];
    for (let start = 0; start < 2; start += 1) {
      const running = await startProcess(settings);
      times.push(sum(valuesOf("SottoRestarts", await scrape(running))[0]));
      await stopProcess(running);
    }
    expect(times[1]).to.be.greaterThan(times[0]!);
  });

  describe("on a chain that mines no blocks", () => {
    let own: World;
    let ahead = 0;
    let service: TestService;
    let settling: Promise<{ body: Record<string, unknown> }[]>;
    before(async () => {
      own = await createOwnWorld();
      const settings = { SOTTO_MAX_HELD: "4", SOTTO_TRUST_PROXY: "127.0.0.1", SOTTO_RPC_TIMEOUT_MS: "5000" };
      service = await openService(settings, () => Date.now() + ahead, own);
      const requests = [];
      for (let count = 0; count < 4; count += 1) requests.push(await verified(service, own));
      await own.provider.send("evm_setAutomine", [false]);
      // One address may have half of the held requests.
      const from = (index: number) => ({ "x-forwarded-for": `203.0.113.${index % 2}` });
      settling = Promise.all(requests.map((request, index) => post(`${service.url}/settle`, request, from(index))));
    });
    after(async () => {
      await service.close();
      own.provider.destroy();
      await own.node.stop();
    });

    it("raises SottoManyHeldRequests", () =>
      raises([service], "SottoManyHeldRequests", (held, max) => max === 4 && held > 0.8 * max));

    it("raises SottoTransactionsStuck, because the transaction is replaced again and again", async () => {
      for (let replaced = 1; replaced <= 6; replaced += 1) {
        await raises([service], "SottoTransactionsStuck", (replacements) => replacements >= replaced);
        ahead += 10_500;
      }
    });

    it("raises SottoPaymentsWait before the payments expire", async () => {
      ahead = 91_000;
      const oldest = (values: readonly number[]) => Math.max(...values);
      await raises([service], "SottoPaymentsWait", (age) => age > 90, oldest);
    });

    it("raises SottoPaymentsFail once the payments have expired", async () => {
      ahead = 200_000;
      await raises([service], "SottoPaymentsFail", (failed) => failed > 3);
      await settling;
    });

    it("raises SottoSettlesSlowly once a payment is settled that waited for a block", async () => {
      // Without those of the payments that have expired.
      await service.close();
      await own.provider.send("evm_mine", []);
      ahead = 0;
      const slowly = closedAfterTest(await openService({}, () => Date.now() + ahead, own));
      const settled = post(`${slowly.url}/settle`, await verified(slowly, own));
      const pending = () => own.provider.send("eth_getBlockTransactionCountByNumber", ["pending"]);
      await eventually(async () => Number(await pending()) > 0);
      ahead = 100_000;
      await own.provider.send("evm_mine", []);
      await settled;
      const upTo = await eventually(async () => {
        const buckets = (await scrape(slowly)).filter(
          ({ metric, labels }) => metric === "sotto_relayer_settle_seconds_bucket" && labels["kind"] === "payment",
        );
        const counts = new Map(buckets.map(({ labels, value }) => [labels["le"], value]));
        return counts.get("+Inf") === 1 && counts;
      });
      expect([upTo.get("90"), upTo.get("120")]).to.deep.equal([0, 1]);
    });

    it("raises SottoReorganizations with each one", async () => {
      await own.provider.send("evm_setAutomine", [true]);
      const reorganized = closedAfterTest(await openService({}, Date.now, own));
      for (let count = 1; count <= 4; count += 1) {
        const snapshot = await own.provider.send("evm_snapshot", []);
        await own.provider.send("hardhat_mine", ["0x3"]);
        const head = Number(await own.provider.send("eth_blockNumber", []));
        await eventually(async () => newestBlock(reorganized) === head);
        await own.provider.send("evm_revert", [snapshot]);
        // Empty blocks of the same second would have the same hashes.
        await own.provider.send("evm_increaseTime", [5]);
        await own.provider.send("hardhat_mine", ["0x5"]);
        await raises([reorganized], "SottoReorganizations", (seen) => seen >= count);
      }
    });
  });
});
