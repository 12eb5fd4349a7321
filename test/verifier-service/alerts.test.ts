// The alerts for Prometheus, compared with what a running service exports and with the runbook.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { ALERT_CASES } from "./support/alert-cases.ts";
import {
  ALERTS_FILE,
  type Alert,
  problemOf,
  readAlerts,
  type Selector,
  type Series,
  selectorsOf,
  selects,
  seriesOf,
} from "./support/alerts.ts";
import { scrape, scrapeAll } from "./support/scrape.ts";

const RUNBOOK = join(import.meta.dirname, "../../docs/runbook.md");

describe("the alerts", function () {
  slow(this, "a chain and services");
  const alerts = readAlerts();
  let world: World;
  before(async () => {
    world = await openWorld();
  });

  it("have a section of the runbook each, in the same order, that says what to do", () => {
    const text = readFileSync(RUNBOOK, "utf8");
    const sections = text.split(/^## /m).filter((section) => section.startsWith("Sotto"));
    expect(sections.map((section) => section.split("\n")[0])).to.deep.equal(alerts.map(({ alert }) => alert));
    for (const section of sections) expect(section).to.match(/^\*\*Means\.\*\* .*^\*\*Do\.\*\* /ms);
    for (const { alert, runbook } of alerts) expect(runbook).to.equal(`docs/runbook.md#${alert.toLowerCase()}`);
  });

  it("name only metrics and labels that a running service exports", async () => {
    const series = await scrapeAll(world);
    const unknown = (selector: Selector) => problemOf(selector, series);
    // The control: what the test finds.
    expect(unknown({ metric: "sotto_relayer_gone", matchers: [] })).to.equal("sotto_relayer_gone is not exported");
    const label = { label: "node", op: "=", value: "0" };
    expect(unknown({ metric: "sotto_ready", matchers: [label] })).to.equal("sotto_ready has no label node");
    const named = alerts.map(({ alert, expr }) => [alert, selectorsOf(expr)] as const);
    for (const [alert, selectors] of named) expect(selectors, alert).to.not.be.empty;
    const cases = Object.entries(ALERT_CASES).map(
      ([alert, { fires, quiet }]) => [alert, Object.keys({ ...fires, ...quiet }).flatMap(selectorsOf)] as const,
    );
    for (const [alert, selectors] of [...named, ...cases])
      for (const selector of selectors) expect(unknown(selector), alert).to.equal(undefined);
    const checks = series.filter(({ metric }) => metric === "sotto_check_ok").map(({ labels }) => labels["check"]);
    const matchers = named.flatMap(([, selectors]) => selectors.flatMap((selector) => selector.matchers));
    const asked = matchers.filter(({ label }) => label === "check").flatMap(({ value }) => value.split("|"));
    expect(checks).to.include.members(asked);
  });

  it("have a case each, whose series the alert selects; promtool checks the cases where it is installed", () => {
    expect(Object.keys(ALERT_CASES)).to.deep.equal(alerts.map(({ alert }) => alert));
    for (const alert of alerts) {
      const { fires } = ALERT_CASES[alert.alert]!;
      const series = Object.keys(fires).flatMap((each) => seriesOf(`${each} 1`));
      const selectors = selectorsOf(alert.expr);
      expect(
        selectors.every((selector) => series.some((each) => selects(selector, each))),
        alert.alert,
      ).to.equal(true);
    }
    const file = join(temporaryFolder("alerts"), "test.yaml");
    // YAML contains JSON.
    writeFileSync(file, JSON.stringify(promtoolTests(alerts)));
    const { error, status, stdout, stderr } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return;
    expect(status, `${stdout}${stderr}`).to.equal(0);
  });

  const CAUSES: Readonly<Record<string, Record<string, string>>> = {
    SottoBalanceTooLow: { SOTTO_LEAST_BALANCE: String(10n ** 30n) },
    SottoGasTooExpensive: { SOTTO_MAX_FEE_PER_GAS: "1" },
    SottoBudgetSpent: { SOTTO_GAS_BUDGET: "1", SOTTO_QUOTAS_BEYOND_BUDGET: "allow" },
    SottoNewestBlockOld: { SOTTO_MAX_HEAD_AGE_MS: "1" },
  };
  for (const [alert, settings] of Object.entries(CAUSES))
    it(`${alert} is selected by its cause, and no other alert on the cause is`, async () => {
      const service = closedAfterTest(await openService(settings));
      expect(await causesOf(service)).to.deep.equal([alert]);
    });

  it("SottoNoNode is selected if the only node hangs, and no alert about what depends on it is", async () => {
    const node = await FaultyNode.start(world.node.url);
    try {
      const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: node.url, SOTTO_RPC_TIMEOUT_MS: "500" }));
      expect(await causesOf(service, false)).to.deep.equal([]);
      node.mode = "hangs";
      expect(await causesOf(service)).to.deep.equal(["SottoNoNode"]);
    } finally {
      await node.stop();
    }
  });

  /** The alerts on the cause of unreadiness that a service's series select. @param expected whether there must be a cause */
  async function causesOf(service: TestService, expected = true): Promise<string[]> {
    const series = await eventually(async () => {
      const found = await scrape(service);
      return found.some(({ metric, value }) => metric === "sotto_ready" && value === Number(!expected)) && found;
    });
    return alerts
      .filter(({ expr }) => {
        const [selector] = selectorsOf(expr);
        const scraped = ({ labels, ...each }: Series) => ({ ...each, labels: { ...labels, job: "sotto" } });
        return selector?.metric === "sotto_unready_cause" && series.some((each) => selects(selector, scraped(each)));
      })
      .map(({ alert }) => alert);
  }
});

/** Tests for promtool: each case fires its alert, and the quiet one does not. */
function promtoolTests(alerts: readonly Alert[]) {
  const tests = alerts.flatMap(({ alert, severity, summary, runbook }) => {
    const { fires, quiet, labels, value = "" } = ALERT_CASES[alert]!;
    const shown = summary
      .replace("{{ $value }}", value)
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? "");
    const expected = [{ exp_labels: { ...labels, severity }, exp_annotations: { summary: shown, runbook } }];
    const test = (series: Readonly<Record<string, string>>, exp_alerts: unknown[]) => ({
      interval: "1m",
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values: values.trim() })),
      alert_rule_test: [{ alertname: alert, eval_time: "110m", exp_alerts }],
    });
    return [test(fires, expected), test(quiet, [])];
  });
  return { rule_files: [ALERTS_FILE], evaluation_interval: "1m", tests };
}
