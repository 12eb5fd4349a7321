import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { CertifyError } from "./errors.ts";
import type { Job, Limits, Message } from "./job.ts";
import { type Outcome, type Stage, type Unknown, unknownOutcome } from "./outcome.ts";
import { DEFAULT_THEOREM } from "./replay/certificate.ts";

/**
 * Certifies a file, or replays its certificate, in a thread of its own, which the limits stop: the outcome is then "unknown". If
 * a wire stays open, it searches two witnesses in the time that is left.
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
  const remove = () => rmSync(scratch, { recursive: true, force: true });
  // Also if the program is interrupted.
  process.once("exit", remove);
  const thread = new Worker(new URL(`./job.${extension}`, import.meta.url), {
    workerData: { ...job, limits, scratch } satisfies Job,
    ...(megabytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: megabytes } }),
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
      thread.on("message", (message: Message) => {
        if ("stage" in message) {
          soFar = message.soFar;
          onStage(message.stage);
        } else if ("outcome" in message) resolve(message.outcome);
        else reject(new CertifyError(message.error, message.code));
      });
      thread.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ERR_WORKER_OUT_OF_MEMORY")
          resolve(stopped(megabytes === undefined ? "memory" : `${megabytes} MB`, "--memory"));
        else reject(error);
      });
      void once(thread, "exit").then(() => reject(new Error("the thread ended without a result")), reject);
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
    process.off("exit", remove);
    remove();
  }
}
