// The alerts for Prometheus, compared with what a running service exports and with the runbook.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openWorld, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { ALERT_CASES } from "./support/alert-cases.ts";
import {
  ALERTS_FILE,
  type Alert,
  problemOf,
  readAlerts,
  type Selector,
  selectorsOf,
  selects,
  seriesOf,
} from "./support/alerts.ts";
import { scrapeAll } from "./support/scrape.ts";

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
