/** Forms of an outcome: text for people, JSON, SARIF 2.1.0 and GitHub's annotations. */
import { findingLines } from "./explain.ts";
import type { Outcome } from "./outcome.ts";
import type { Theorem } from "./replay/certificate.ts";

/** What each theorem says. */
export const MEANING: Readonly<Record<Theorem, string>> = {
  outputs: "all inputs together determine every output",
  wires: "all inputs together determine every wire",
  strong: "the public inputs alone determine every output",
  source: "all inputs of the source together determine every output",
  ports: "all inputs of the source together determine every output, and every input and output of a component",
};

const HELP = "https://www.npmjs.com/package/@sotto/certify";

/** At most so many inputs of a refutation are printed. */
const MAX_GIVEN = 8;

/** Lines for a terminal. */
export function textOf(path: string, outcome: Outcome): string[] {
  const { theorem } = outcome;
  const head = `${path}: ${outcome.verdict}`;
  if (outcome.verdict === "certified") {
    const { constraints, wires, outputs, source, ports } = outcome.checked;
    return [
      `${head}: ${MEANING[theorem]} (theorem ${theorem})`,
      `  ${constraints} constraints, ${wires} wires, ${outputs} outputs; a second checker has replayed the proof`,
      ...(ports === undefined ? [] : [`  ${ports} inputs and outputs of components`]),
      ...(source === undefined
        ? []
        : [`  the proof is also about the file that circom --O0 makes, with the SHA-256 ${source}`]),
      ...(outcome.unused ?? []).map((input) => `  ${input} is in no constraint`),
    ];
  }
  if (outcome.verdict === "refuted") {
    const { signal, values, given, finding } = outcome;
    const more = given.length - MAX_GIVEN;
    return [
      `${head}: ${signal} has two values, so it is false that ${MEANING[theorem]} (theorem ${theorem})`,
      ...values.map((value, i) => `  ${signal} = ${value} in witness ${i + 1}`),
      ...given.slice(0, MAX_GIVEN).map((one) => `  ${one.signal} = ${one.value} in both`),
      ...(more > 0 ? [`  and ${more} more inputs; --json prints all values`] : []),
      ...findingLines(finding),
    ];
  }
  return [
    `${head}: not shown that ${MEANING[theorem]} (theorem ${theorem})`,
    `  ${outcome.reason}`,
    ...outcome.findings.flatMap(findingLines),
  ];
}

/** The outcome as JSON. Values of wires are decimal strings. */
export function jsonOf(path: string, outcome: Outcome): string {
  const shown = outcome.verdict === "certified" ? { ...outcome, certificate: undefined } : outcome;
  const value = { circuit: path, meaning: MEANING[outcome.theorem], ...shown };
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one), 2);
}

interface Problem {
  readonly level: "error" | "warning";
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

/** What a reviewer must look at: an error if the circuit is refuted, warnings for open signals. */
function problemsOf(path: string, outcome: Outcome): Problem[] {
  if (outcome.verdict === "certified") return [];
  const startOf = { file: path, line: 1 };
  if (outcome.verdict === "refuted") {
    const { signal, values, finding, theorem } = outcome;
    const inputs = theorem === "strong" ? "public inputs" : "inputs";
    const message = `${signal} has two values for the same ${inputs}: ${values.join(" and ")}. ${finding.fix}`;
    return [{ level: "error", message, ...(finding.place ?? startOf) }];
  }
  if (outcome.findings.length === 0) return [{ level: "warning", message: outcome.reason, ...startOf }];
  return outcome.findings.map((finding) => ({
    level: "warning",
    message: `${finding.signal} is not shown to be determined: ${finding.why}. ${finding.fix}`,
    ...(finding.place ?? startOf),
  }));
}

/** The outcome as a SARIF 2.1.0 file, for code scanning. */
export function sarifOf(path: string, outcome: Outcome): string {
  const rules = [
    { id: "refuted", shortDescription: { text: "A signal has two values for the same inputs" } },
    { id: "unknown", shortDescription: { text: "A signal is not shown to be determined" } },
  ];
  const results = problemsOf(path, outcome).map(({ level, message, file, line }) => ({
    ruleId: outcome.verdict,
    level,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.split("\\").map(encodeURI).join("/") },
          region: { startLine: line },
        },
      },
    ],
  }));
  const driver = { name: "certify", informationUri: HELP, rules };
  return JSON.stringify({ version: "2.1.0", runs: [{ tool: { driver }, results }] }, undefined, 2);
}

/** Escapes as GitHub's workflow commands require. */
const escaped = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string) => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands that annotate a pull request on GitHub. */
export const githubOf = (path: string, outcome: Outcome): string[] =>
  problemsOf(path, outcome).map(
    ({ level, message, file, line }) =>
      `::${level} file=${property(file)},line=${line},title=certify::${escaped(message)}`,
  );
