// Reads the alerts for Prometheus, as far as their tests need it: a strict form of YAML, and the selectors of PromQL.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ALERTS_FILE = join(import.meta.dirname, "../../../packages/service/monitoring/alerts.yaml");

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: string;
  readonly summary: string;
  readonly runbook: string;
}

const RULE = new RegExp(
  [
    /^ {6}- alert: (?<alert>Sotto[A-Za-z]+)$/,
    /^ {8}expr: (?<quote>['"])(?<expr>(?:(?!\k<quote>).)+)\k<quote>$/,
    /^ {8}for: (?<for>\d+[mh])$/,
    /^ {8}labels:$/,
    /^ {10}severity: (?<severity>page|ticket)$/,
    /^ {8}annotations:$/,
    /^ {10}summary: "(?<summary>[^"]+)"$/,
    /^ {10}runbook: (?<runbook>\S+)$/,
  ]
    .map(({ source }) => source.slice(1, -1))
    .join("\n"),
  "y",
);

/** Reads the file. Throws if a line has another form than all rules have. */
export function readAlerts(text = readFileSync(ALERTS_FILE, "utf8")): Alert[] {
  const head = /^(#.*\n)*groups:\n {2}- name: sotto\n {4}rules:\n/.exec(text);
  if (head === null) throw new Error("the file does not begin with a group of rules");
  const alerts: Alert[] = [];
  for (let at = head[0].length; at < text.length; at = RULE.lastIndex + 1) {
    RULE.lastIndex = at;
    const found = RULE.exec(text);
    if (found === null) throw new Error(`this is not a rule:\n${text.slice(at, at + 300)}`);
    const { quote: _, ...alert } = found.groups as Readonly<Record<string, string>>;
    alerts.push(alert as unknown as Alert);
  }
  return alerts;
}

export interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

/** A metric of an expression, and the labels by which it is selected. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** Words of PromQL that are not followed by a parenthesis. */
const WORDS = new Set(["by", "ignoring", "and", "or", "unless"]);

/** All selectors of an expression. Names before a parenthesis are functions, those in the parenthesis of `by` are labels. */
export function selectorsOf(expr: string): Selector[] {
  const plain = expr.replaceAll(/\b(by|ignoring) \([a-z_, ]*\)/g, " ").replaceAll(/\bignoring\([a-z_, ]*\)/g, " ");
  const names = /(?<!\w)([a-z_][a-z0-9_]*)\b(?!\s*\()(\{([^}]*)\})?/g;
  return [...plain.replaceAll(/\[\d+[smh]\]/g, "").matchAll(names)].flatMap(([, metric = "", , inner = ""]) => {
    if (WORDS.has(metric)) return [];
    const matchers = [...inner.matchAll(/([a-z_]+)(=~|!~|!=|=)"([^"]*)"/g)];
    return [{ metric, matchers: matchers.map(([, label = "", op = "", value = ""]) => ({ label, op, value })) }];
  });
}

export const ADDED_LABELS: readonly string[] = ["job", "instance"];

export interface Series {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The series of a scrape, in Prometheus's text format. */
export function seriesOf(text: string): Series[] {
  return text.split("\n").flatMap((line) => {
    const found = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) return [];
    const [, metric = "", labels = "", value = ""] = found;
    const pairs = [...labels.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, of]) => [label, of]);
    return [{ metric, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** What a selector has that no exported series has; undefined if nothing. Prometheus adds the labels `job` and `instance`. */
export function problemOf({ metric, matchers }: Selector, series: readonly Series[]): string | undefined {
  if (metric === "up") return undefined;
  const exported = series.filter((each) => each.metric === metric);
  if (exported.length === 0) return `${metric} is not exported`;
  const missing = matchers.find(
    ({ label }) => !ADDED_LABELS.includes(label) && exported.every(({ labels }) => !(label in labels)),
  );
  return missing && `${metric} has no label ${missing.label}`;
}

/** Whether a selector selects a series. */
export function selects({ metric, matchers }: Selector, series: Series): boolean {
  return (
    series.metric === metric &&
    matchers.every(({ label, op, value }) => {
      const found = series.labels[label] ?? "";
      if (op === "=") return found === value;
      if (op === "!=") return found !== value;
      return new RegExp(`^(?:${value})$`).test(found) === (op === "=~");
    })
  );
}
