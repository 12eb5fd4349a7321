#!/usr/bin/env node
// The program `certify`.
import { accessSync, constants, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import type { Simplification } from "./compile.ts";
import { CertifyError } from "./errors.ts";
import { certifyFile } from "./limits.ts";
import type { Outcome, Stage } from "./outcome.ts";
import { githubOf, jsonOf, MEANING, sarifOf, textOf } from "./output.ts";
import { THEOREMS, type Theorem } from "./replay/certificate.ts";

const USAGE = `certify CIRCUIT.circom [-l FOLDER]... [options]
certify FILE.r1cs [--sym FILE] [options]
certify --check FILE.r1cs CERTIFICATE [--source FILE.r1cs]

Proves that the inputs of a circuit determine its outputs.
Exit code 0: certified, 1: refuted, 2: unknown, 3: the input is not a circuit.

  -l, --library FOLDER   look for includes in this folder too; can be repeated
      --sym FILE         names of the signals of an .r1cs file
      --theorem NAME     outputs: ${MEANING.outputs} (default)
                         wires: ${MEANING.wires} (default, if there are no outputs)
                         strong: ${MEANING.strong}
                         source: ${MEANING.source},
                         also inputs that the file has no wire for (default, if outputs fails for that)
                         ports: the same inputs determine every output, and every input
                         and output of a component (default without outputs, if wires fails)
      --simplify LEVEL   circom's --O0, --O1 (default) or --O2 of the file that is certified
      --out FILE         write the certificate, if the circuit is certified
      --check            replay a certificate with the second checker alone; --theorem then
                         names what it must show (default: any)
      --source FILE      the circuit as circom --O0 compiles it, for a certificate of the theorem source or ports
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
        library: { type: "string", short: "l", multiple: true },
        sym: { type: "string" },
        theorem: { type: "string" },
        simplify: { type: "string" },
        out: { type: "string" },
        source: { type: "string" },
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

const isTheorem = (name: string): name is Theorem => THEOREMS.some((theorem) => theorem === name);

/** A positive number of an option; undefined if it is absent. */
function parsePositive(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  return number > 0 && number <= 1e6
    ? number
    : invalid(`--${name} is ${value}; expected a number above 0 and at most 1000000`);
}

/** The circuit and the certificate that the arguments name. */
function readPaths(positionals: readonly string[], isCheck: boolean): [path: string, certificate: string | undefined] {
  const [path, certificate, ...others] = positionals;
  if (isCheck) {
    if (path === undefined || certificate === undefined || others.length > 0)
      return invalid("--check needs an .r1cs file and a certificate");
    return path.endsWith(".r1cs") ? [path, certificate] : invalid(`${path} is not an .r1cs file`);
  }
  if (path === undefined || certificate !== undefined) return invalid(`expected one circuit\n\n${USAGE}`);
  if (!/\.(circom|r1cs)$/.test(path)) return invalid(`${path} is neither a .circom nor an .r1cs file`);
  return [path, undefined];
}

/** Refuses an option that this kind of input does not have, so that nobody relies on it. */
function refuseUnused(given: readonly string[], input: string): void {
  const [name] = given;
  if (name !== undefined) invalid(`--${name} has no use with ${input}`);
}

/** Refuses a file that cannot be written, before any work. */
function assertWritable(path: string | undefined): void {
  if (path === undefined) return;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) invalid(`${path} is a folder`);
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  } catch (error) {
    invalid(`cannot write ${path}: ${(error as Error).message}`);
  }
}

function write(path: string, contents: string | Buffer): void {
  try {
    writeFileSync(path, contents);
  } catch (error) {
    invalid(`cannot write ${path}: ${(error as Error).message}`);
  }
}

async function run(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const { check: isCheck, library, sym, simplify = "1", theorem, json, github, sarif, out } = values;
  const [path, certificate] = readPaths(positionals, isCheck);
  const named = (...names: (keyof typeof values)[]) => names.filter((name) => values[name] !== undefined);
  if (!isCheck) refuseUnused(named("source"), "a circuit that is not checked");
  if (isCheck) refuseUnused(named("library", "sym", "simplify", "out"), "--check");
  else if (path.endsWith(".r1cs")) refuseUnused(named("library", "simplify"), "an .r1cs file");
  else refuseUnused(named("sym"), "a .circom file");
  if (theorem !== undefined && !isTheorem(theorem))
    return invalid(`--theorem is ${theorem}; expected ${THEOREMS.join(", ")}`);
  if (!["0", "1", "2"].includes(simplify)) return invalid(`--simplify is ${simplify}; expected 0, 1 or 2`);
  const simplification = Number(simplify) as Simplification;
  const limits = { seconds: parsePositive("time", values.time), megabytes: parsePositive("memory", values.memory) };
  for (const file of [sarif, out]) assertWritable(file);
  const job = { path, libraries: library ?? [], sym, simplification, theorem, certificate, source: values.source };
  const outcome = await certifyFile(job, limits, (stage) => {
    if (process.stderr.isTTY) console.error(`${path}: ${STAGES[stage]} ...`);
  });
  if (json) console.log(jsonOf(path, outcome));
  else for (const line of textOf(path, outcome)) console.log(line);
  if (github) for (const line of githubOf(path, outcome)) console.log(line);
  if (sarif !== undefined) write(sarif, `${sarifOf(path, outcome)}\n`);
  if (out !== undefined && outcome.verdict === "certified") write(out, outcome.certificate);
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
