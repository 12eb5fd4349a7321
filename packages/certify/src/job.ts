// A process of limits.ts: reads or compiles a circuit and certifies it.
import { existsSync, readFileSync, statSync } from "node:fs";
import { compileCircuit, type Simplification } from "./compile.ts";
import { CertifyError, type CertifyErrorCode } from "./errors.ts";
import { type Circuit, certify, type Outcome, type Stage, type Unknown, unknownOutcome } from "./outcome.ts";
import { readSystem } from "./r1cs.ts";
import type { SearchLimits } from "./refute/refute.ts";
import { DEFAULT_THEOREM, type Theorem } from "./replay/certificate.ts";
import { type CheckedTheorem, checkCertificate } from "./replay/check.ts";
import { assertSym } from "./sym.ts";

/** Limits of one run. */
export interface Limits {
  /** Seconds until the run is stopped. Default: no limit. */
  readonly seconds?: number | undefined;
  /** Megabytes of JavaScript objects until the run is stopped. Default: what Node chooses. */
  readonly megabytes?: number | undefined;
}

/** What to certify. */
export interface Job {
  /** A .circom or .r1cs file. */
  readonly path: string;
  readonly libraries: readonly string[];
  readonly sym: string | undefined;
  readonly simplification: Simplification;
  /** The theorem to prove. With a certificate: the one that it must show; default: any. */
  readonly theorem: Theorem | undefined;
  /** A certificate of the .r1cs file to replay, instead of a search for a proof. */
  readonly certificate: string | undefined;
  /** The .r1cs file without simplification that a certificate of the theorem `source` is about too. */
  readonly source: string | undefined;
  /** Limits of the process, from its start. */
  readonly limits: Limits;
  /** The folder for temporary files, which outlives a process that is stopped. */
  readonly scratch: string;
}

/** What the process posts. */
export type Message =
  | { readonly stage: Stage; readonly soFar?: Unknown | undefined }
  | { readonly outcome: Outcome }
  | { readonly error: string; readonly code: CertifyErrorCode };

/** An input file may have at most so many bytes. */
const MAX_FILE = 2 ** 31 - 1;
/** The search takes this share of what is left, so that it ends before a limit stops the process. */
const SEARCH_SHARE = 0.8;

const start = performance.now();
const post = (message: Message) => process.send?.(message);

function searchLimits({ seconds, megabytes }: Limits): SearchLimits {
  return {
    ...(seconds === undefined ? {} : { milliseconds: SEARCH_SHARE * (1000 * seconds - (performance.now() - start)) }),
    ...(megabytes === undefined ? {} : { megabytes: SEARCH_SHARE * megabytes }),
  };
}

function readInput(path: string): Buffer {
  if (!existsSync(path) || !statSync(path).isFile())
    throw new CertifyError(`there is no file ${path}`, "INPUT_INVALID");
  const { size } = statSync(path);
  if (size > MAX_FILE) throw new CertifyError(`${path} has ${size} bytes; the limit is 2 GB`, "INPUT_INVALID");
  return readFileSync(path);
}

async function read({ path, libraries, sym, simplification, scratch }: Job): Promise<Circuit> {
  if (path.endsWith(".r1cs")) {
    const r1cs = readInput(path);
    if (sym === undefined) return { r1cs };
    const names = readInput(sym).toString();
    assertSym(names, readSystem(r1cs));
    return { r1cs, sym: names };
  }
  readInput(path);
  post({ stage: "compile" });
  return compileCircuit(path, libraries, simplification, scratch);
}

/** Replays a certificate with the second checker alone. */
function check({ path, theorem, source }: Job, certificate: Buffer): Outcome {
  const r1cs = readInput(path);
  const unknown = (reason: string) => unknownOutcome(theorem ?? DEFAULT_THEOREM, reason);
  try {
    const checked = checkCertificate(r1cs, certificate, source === undefined ? undefined : readInput(source));
    if (theorem !== undefined && !implies(checked, theorem))
      return unknown(`the certificate shows the theorem ${checked.theorem}, from which ${theorem} does not follow`);
    return { verdict: "certified", theorem: checked.theorem, certificate, checked };
  } catch (error) {
    return unknown(`the second checker refuses the certificate: ${(error as Error).message}`);
  }
}

/**
 * Every output is a wire, and all inputs include the public ones. `source` and `ports` give inputs that the file does not contain, and
 * claim every output.
 */
function implies({ theorem: shown, outputs }: CheckedTheorem, theorem: Theorem): boolean {
  if (shown === theorem) return true;
  if (outputs === 0) return false;
  return theorem === "source" ? shown === "ports" : theorem === "outputs" && shown !== "source" && shown !== "ports";
}

async function run(job: Job): Promise<Message> {
  try {
    const onStage = (stage: Stage, soFar?: Unknown) => post({ stage, soFar });
    if (job.certificate !== undefined) {
      onStage("check");
      return { outcome: check(job, readInput(job.certificate)) };
    }
    const search = () => searchLimits(job.limits);
    return { outcome: certify(await read(job), { theorem: job.theorem, onStage, search }) };
  } catch (error) {
    if (error instanceof CertifyError) return { error: error.message, code: error.code };
    throw error;
  }
}

post(await run(JSON.parse(process.argv[2] as string) as Job));
