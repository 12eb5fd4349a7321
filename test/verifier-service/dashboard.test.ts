// The dashboard for Grafana, compared with what a running service exports, with the alerts and with its page.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openWorld } from "@sotto/test-world/service";
import { expect } from "chai";
import { ADDED_LABELS, problemOf, readAlerts, selectorsOf } from "./support/alerts.ts";
import { scrapeAll } from "./support/scrape.ts";

interface Panel {
  readonly id: number;
  readonly type: "row" | "stat" | "timeseries";
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

const ROOT = join(import.meta.dirname, "..", "..");
const { panels } = JSON.parse(readFileSync(join(ROOT, "packages/service/monitoring/dashboard.json"), "utf8")) as {
  panels: readonly Panel[];
};
const charts = panels.filter(({ type }) => type !== "row");

/** An expression with what Grafana puts in the place of its variables. */
const filled = (expr: string): string =>
  expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*").replaceAll("$job", "sotto");
const targets = charts.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr: filled(expr), legend: legendFormat })),
);

describe("the dashboard", function () {
  slow(this, "a chain and a service");

  it("answers the questions of its page, in the same order", () => {
    const page = readFileSync(join(ROOT, "docs/operations-watch.md"), "utf8").split("\n## Dashboard\n")[1] ?? "";
    const questions = [...page.split("\n## ")[0]!.matchAll(/^\d+\. (.+\?)/gm)].map(([, question]) => question);
    expect(panels.filter(({ type }) => type === "row").map(({ title }) => title)).to.deep.equal(questions);
  });

  it("has panels of different names, with a description each, that do not overlap", () => {
    for (const key of ["id", "title"] as const)
      expect(new Set(panels.map((panel) => panel[key])).size).to.equal(panels.length);
    for (const { title, description } of charts) expect(description, title).to.match(/^.+\.$/s);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      [...Array(h).keys()].flatMap((row) => [...Array(w).keys()].map((column) => `${x + column},${y + row}`)),
    );
    expect(new Set(cells).size).to.equal(cells.length);
    for (const { title, gridPos } of panels) expect(gridPos.x + gridPos.w, title).to.be.at.most(24);
  });

  it("names only metrics and labels that a running service exports", async () => {
    const series = await scrapeAll(await openWorld());
    // The control.
    expect(problemOf(selectorsOf("rate(sotto_gone[5m]) / 1e18")[0]!, series)).to.equal("sotto_gone is not exported");
    for (const { title, expr, legend } of targets) {
      const selectors = selectorsOf(expr);
      expect(selectors, title).to.not.deep.equal([]);
      for (const selector of selectors) {
        expect(problemOf(selector, series), title).to.equal(undefined);
        // Of this job and of the chosen replicas only.
        const added = selector.matchers.filter(({ label }) => ADDED_LABELS.includes(label));
        expect(added, title).to.deep.equal([
          { label: "job", op: "=", value: "sotto" },
          { label: "instance", op: "=~", value: ".*" },
        ]);
      }
      const grouped = [...expr.matchAll(/\bby \(([a-z_, ]*)\)/g)].map(([, labels = ""]) => labels.split(", "));
      for (const label of grouped.flat()) {
        const matchers = [{ label, op: "=~", value: ".*" }];
        expect(problemOf({ metric: selectors[0]!.metric, matchers }, series), title).to.equal(undefined);
      }
      // A legend has the labels that the outermost aggregation leaves.
      const [outer] = /^(?:sum|max|min|count) by /.test(expr) ? grouped : [];
      const aggregated = /^(?:sum|max|min|count)\(/.test(expr);
      for (const [, label = ""] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
        expect(aggregated, title).to.equal(false);
        if (outer !== undefined) expect(outer, title).to.include(label);
        const matchers = [{ label, op: "=~", value: ".*" }];
        expect(problemOf({ metric: selectors[0]!.metric, matchers }, series), title).to.equal(undefined);
      }
    }
  });

  it("shows every metric of every alert, and names the alert in a panel that shows it", () => {
    const shown = new Set(targets.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric)));
    // These are named by the cause, which one panel shows for all checks.
    const causes = /^sotto_unready_cause\b/;
    for (const { alert, expr } of readAlerts()) {
      const metrics = selectorsOf(expr).map(({ metric }) => metric);
      expect([...shown], alert).to.include.members(metrics);
      if (causes.test(expr)) continue;
      const named = charts.filter(({ description = "" }) => new RegExp(`\\b${alert}\\b`).test(description));
      expect(named, alert).to.not.deep.equal([]);
      for (const { title, targets = [] } of named) {
        const found = targets.flatMap((target) => selectorsOf(filled(target.expr)).map(({ metric }) => metric));
        expect(
          found.some((metric) => metrics.includes(metric)),
          `${title}, ${alert}`,
        ).to.equal(true);
      }
    }
    const names = charts.flatMap(({ description = "" }) => description.match(/\bSotto[A-Z]\w+/g) ?? []);
    expect(readAlerts().map(({ alert }) => alert)).to.include.members(names);
  });

  it("has expressions that promtool accepts, where it is installed", () => {
    const file = join(temporaryFolder("dashboard"), "rules.yaml");
    const rules = targets.map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    const { error, status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return;
    expect(status, `${stdout}${stderr}`).to.equal(0);
  });
});
