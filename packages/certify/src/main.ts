#!/usr/bin/env node
// The program `certify`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Simplification } from "./compile.ts";
import { CertifyError } from "./errors.ts";
import { certifyFile } from "./limits.ts";
import type { Outcome, Stage } from "./outcome.ts";
import { githubOf, jsonOf, MEANING, sarifOf, textOf } from "./output.ts";
import { THEOREMS, type Theorem } from "./replay/certificate.ts";
import { checkCertificate } from "./replay/check.ts";

const USAGE = `certify CIRCUIT.circom [-l FOLDER]... [options]
certify FILE.r1cs [--sym FILE] [options]
certify --check FILE.r1cs CERTIFICATE

Proves that the inputs of a circuit determine its outputs.
Exit code 0: certified, 1: refuted, 2: unknown, 3: the input is not a circuit.

  -l, --library FOLDER   look for includes in this folder too; can be repeated
      --sym FILE         names of the signals of an .r1cs file
      --theorem NAME     outputs: ${MEANING.outputs} (default)
                         wires: ${MEANING.wires}
                         strong: ${MEANING.strong}
      --simplify LEVEL   circom's --O0, --O1 (default) or --O2 of the file that is certified
      --out FILE         write the certificate, if the circuit is certified
      --check            replay a certificate with the second checker alone
      --json             print JSON
      --sarif FILE       write a SARIF file
      --github           print annotations for GitHub Actions
      --time SECONDS     stop after this time
      --memory MB        stop if the JavaScript heap exceeds this size
      --help             print this text`;

const EXIT_CODES: Readonly<Record<Outcome["verdict"], number>> = { certified: 0, refuted: 1, unknown: 2 };
const BAD_INPUT = 3;

const STAGES: Readonly<Record<Stage, string>> = {
  compile: "compiling",
  prove: "proving",
  check: "replaying the proof with the second checker",
  search: "searching two witnesses",
};

const invalid = (message: string): never => {
  throw new CertifyError(message, "INPUT_INVALID");
};

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        library: { type: "string", short: "l", multiple: true, default: [] },
        sym: { type: "string" },
        theorem: { type: "string", default: "outputs" },
        simplify: { type: "string", default: "1" },
        out: { type: "string" },
        check: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        sarif: { type: "string" },
        github: { type: "boolean", default: false },
        time: { type: "string" },
        memory: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return invalid(`${(error as Error).message.split(". ")[0]}; certify --help lists the options`);
  }
}

/** A positive number of an option; undefined if it is absent. */
function parsePositive(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  return number > 0 && number <= 1e6 ? number : invalid(`--${name} is ${value}; expected a number from 1 to 1000000`);
}

function readFile(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : invalid(`there is no file ${path}`);
}

/** Replays a certificate. A certificate that does not hold is exit code 2: nothing is known about the circuit. */
function check(r1csPath: string, certificatePath: string): number {
  const [r1cs, certificate] = [readFile(r1csPath), readFile(certificatePath)];
  try {
    const { theorem, steps } = checkCertificate(r1cs, certificate);
    console.log(`${r1csPath}: certified: ${MEANING[theorem]} (theorem ${theorem}; ${steps} steps replayed)`);
    return EXIT_CODES.certified;
  } catch (error) {
    console.error(`certify: ${certificatePath} does not show it: ${(error as Error).message}`);
    return EXIT_CODES.unknown;
  }
}

async function run(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const [path, second, ...others] = positionals;
  if (values.check)
    return path !== undefined && second !== undefined && others.length === 0
      ? check(path, second)
      : invalid("--check needs an .r1cs file and a certificate");
  if (path === undefined || second !== undefined) return invalid(`expected one circuit\n\n${USAGE}`);
  if (!/\.(circom|r1cs)$/.test(path)) return invalid(`${path} is neither a .circom nor an .r1cs file`);
  const theorem = values.theorem as Theorem;
  if (!THEOREMS.includes(theorem)) return invalid(`--theorem is ${theorem}; expected ${THEOREMS.join(", ")}`);
  if (!["0", "1", "2"].includes(values.simplify))
    return invalid(`--simplify is ${values.simplify}; expected 0, 1 or 2`);
  const simplification = Number(values.simplify) as Simplification;
  const limits = { seconds: parsePositive("time", values.time), megabytes: parsePositive("memory", values.memory) };
  const { library: libraries, sym, json, github, sarif, out } = values;
  const outcome = await certifyFile({ path, libraries, sym, simplification, theorem }, limits, (stage) => {
    if (process.stderr.isTTY) console.error(`${path}: ${STAGES[stage]} ...`);
  });
  if (json) console.log(jsonOf(path, outcome));
  else for (const line of textOf(path, outcome)) console.log(line);
  if (github) for (const line of githubOf(path, outcome)) console.log(line);
  if (sarif !== undefined) writeFileSync(sarif, `${sarifOf(path, outcome)}\n`);
  if (out !== undefined && outcome.verdict === "certified") writeFileSync(out, outcome.certificate);
  return EXIT_CODES[outcome.verdict];
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(code));
try {
  process.exitCode = await run();
} catch (error) {
  const isInput = error instanceof CertifyError;
  // Node's own exit code for an error would mean "refuted".
  console.error(`certify: ${isInput ? error.message : `failed: ${(error as Error).stack}`}`);
  process.exitCode = isInput ? BAD_INPUT : EXIT_CODES.unknown;
}
