import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertifyError } from "./errors.ts";
import type { Job, Limits, Message } from "./job.ts";
import { type Outcome, type Stage, type Unknown, unknownOutcome } from "./outcome.ts";
import { DEFAULT_THEOREM } from "./replay/certificate.ts";

/** V8's exit code if it aborts without a signal. */
const ABORTED = 134;
/** So much of what a failed process printed is kept. */
const MAX_ERRORS = 4000;

/**
 * Certifies a file, or replays its certificate, in a process of its own, which the limits stop: the outcome is then "unknown". V8 ends
 * the whole process, not only a thread, if JSON.parse or another native call exceeds the heap's limit. If a wire stays open, it
 * searches two witnesses in the time that is left.
 * @throws CertifyError if the file is not a circuit
 */
export async function certifyFile(
  job: Omit<Job, "scratch" | "limits">,
  limits: Limits,
  onStage: (stage: Stage) => void,
): Promise<Outcome> {
  const { seconds, megabytes } = limits;
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const scratch = mkdtempSync(join(tmpdir(), "certify-"));
  const own = { ...job, limits, scratch } satisfies Job;
  const child = fork(new URL(`./job.${extension}`, import.meta.url), [JSON.stringify(own)], {
    serialization: "advanced",
    execArgv: megabytes === undefined ? [] : [`--max-old-space-size=${Math.ceil(megabytes)}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const stop = () => {
    child.kill("SIGKILL");
    rmSync(scratch, { recursive: true, force: true });
  };
  // Also if the program is interrupted.
  process.once("exit", stop);
  const ended = once(child, "close");
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors = `${errors}${String(data)}`.slice(-MAX_ERRORS);
  });
  /** The outcome before the search. */
  let soFar: Unknown | undefined;
  const stopped = (limit: string, option: string): Outcome => {
    const why = `reached its limit of ${limit}; raise it with ${option}`;
    if (soFar !== undefined) return { ...soFar, reason: `${soFar.reason}, and the search ${why}` };
    return unknownOutcome(job.theorem ?? DEFAULT_THEOREM, `the run ${why}`);
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Outcome>((resolve, reject) => {
      if (seconds !== undefined) timer = setTimeout(() => resolve(stopped(`${seconds} s`, "--time")), 1000 * seconds);
      child.on("message", (message: Message) => {
        if ("stage" in message) {
          soFar = message.soFar;
          onStage(message.stage);
        } else if ("outcome" in message) resolve(message.outcome);
        else reject(new CertifyError(message.error, message.code));
      });
      child.on("error", reject);
      child.on("close", (code, signal) => {
        if (code === ABORTED || signal === "SIGABRT" || signal === "SIGKILL")
          resolve(stopped(megabytes === undefined ? "memory" : `${megabytes} MB`, "--memory"));
        else reject(new Error(`the process ended without a result\n${errors}`));
      });
    });
  } finally {
    clearTimeout(timer);
    process.off("exit", stop);
    child.kill("SIGKILL");
    await ended;
    rmSync(scratch, { recursive: true, force: true });
  }
}
