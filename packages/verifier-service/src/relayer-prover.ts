// Proves appends in a child process, because proving blocks its process for a second, and a prover that runs out of memory must
// not end the service.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SottoError } from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import { ServiceError } from "./errors.ts";
import type { RelayerProver } from "./relayer/index.ts";

type Proof = Awaited<ReturnType<Prover["prove"]>>;
export type ProverRequest = {
  readonly id: number;
  readonly circuit: string;
  readonly input: Parameters<Prover["prove"]>[1];
};
export type ProverReply =
  | { readonly id: number; readonly proof: Proof }
  | { readonly id: number; readonly failure: { readonly code: string; readonly message: string } };

interface Waiting {
  readonly resolve: (proof: Proof) => void;
  readonly reject: (error: unknown) => void;
  readonly cancelDeadline: () => void;
}

export interface ProverProcess extends Pick<Prover, "prove">, Pick<RelayerProver, "artifacts"> {
  /** The pid of the running child; undefined before the first proof and after the child ended. */
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** Deadline of one proof, ms. An append takes seconds on two cores, and several times as long on a busy machine. */
const PROOF_DEADLINE_MS = 180_000;

/** Calls `action` after `ms`. @returns cancels it */
export type Schedule = (action: () => void, ms: number) => () => void;

const schedule: Schedule = (action, ms) => {
  const timer = setTimeout(action, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/**
 * Starts the child for the first proof, and again for the first proof after it ended. A child that misses a deadline is
 * killed: its unfinished proofs fail with PROVER_TIMED_OUT or PROVER_ENDED.
 * @param folder the folder of the artifacts; @param set their name; @param startTimer for tests
 */
export function openProverProcess(folder: string, set: string, startTimer = schedule): ProverProcess {
  const waiting = new Map<number, Waiting>();
  let child: ChildProcess | undefined;
  let questions = 0;
  let closed = false;
  const take = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    found?.cancelDeadline();
    return found;
  };
  const failAll = (error: SottoError) => {
    for (const id of [...waiting.keys()]) take(id)?.reject(error);
  };
  const start = (): ChildProcess => {
    const name = import.meta.url.endsWith(".ts") ? "./relayer-prover-process.ts" : "./relayer-prover-process.js";
    const file = fileURLToPath(new URL(name, import.meta.url));
    // An empty environment, because the parent's contains the relayer's key.
    const started = fork(file, [folder, set], {
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.unref();
    started.channel?.unref();
    started.on("message", (answer: ProverReply) => {
      const asked = take(answer.id);
      if ("proof" in answer) asked?.resolve(answer.proof);
      else asked?.reject(new SottoError(answer.failure.code, answer.failure.message));
    });
    const ended = () => {
      // A child that was killed for a missed deadline may have a successor; the successor's proofs must not fail.
      if (child !== started) return;
      child = undefined;
      failAll(new ServiceError("PROVER_ENDED", "the prover's process ended"));
    };
    started.on("error", ended);
    started.on("exit", ended);
    return started;
  };
  const timeOut = (id: number, late: ChildProcess) => {
    const message = `the proof was not made within ${PROOF_DEADLINE_MS / 1000} s; the prover's process was killed`;
    take(id)?.reject(new ServiceError("PROVER_TIMED_OUT", message));
    if (child !== late) return;
    child = undefined;
    failAll(new ServiceError("PROVER_ENDED", "the prover's process missed a deadline and was killed"));
    // Not SIGTERM, because a process that hangs may not handle it.
    late.kill("SIGKILL");
  };
  return {
    artifacts: { set },
    get pid() {
      return child?.pid;
    },
    async prove(circuit, input) {
      if (closed) throw new ServiceError("PROVER_ENDED", "the service is shutting down");
      child ??= start();
      const asked = child;
      questions += 1;
      const id = questions;
      return new Promise((resolve, reject) => {
        const cancelDeadline = startTimer(() => timeOut(id, asked), PROOF_DEADLINE_MS);
        waiting.set(id, { resolve, reject, cancelDeadline });
        asked.send({ id, circuit, input } satisfies ProverRequest);
      });
    },
    async close() {
      closed = true;
      const last = child;
      if (last === undefined) return;
      const ended = new Promise((resolve) => last.once("exit", resolve));
      last.ref();
      last.kill("SIGKILL");
      await ended;
    },
  };
}
