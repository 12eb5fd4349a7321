// Proofs of appends, made in a process of their own: a second of proving would be a second in which nobody is answered.
// Not a thread: a library of the prover takes every thread that is not the main one for a worker of its own.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SottoError } from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import type { AppendProver } from "./relayer/index.ts";

type Proof = Awaited<ReturnType<Prover["prove"]>>;
export type ProverQuestion = {
  readonly id: number;
  readonly circuit: string;
  readonly input: Parameters<Prover["prove"]>[1];
};
export type ProverAnswer =
  | { readonly id: number; readonly proof: Proof }
  | { readonly id: number; readonly failure: { readonly code: string; readonly message: string } };

interface Waiting {
  readonly resolve: (proof: Proof) => void;
  readonly reject: (error: unknown) => void;
}

export interface ProverProcess extends AppendProver {
  close(): Promise<void>;
}

/**
 * The process begins with the first proof, and again after one that ended it.
 * @param directory of the artifacts; @param set their name
 */
export function openProverProcess(directory: string, set: string): ProverProcess {
  const waiting = new Map<number, Waiting>();
  let child: ChildProcess | undefined;
  let questions = 0;
  let closed = false;
  const start = (): ChildProcess => {
    const name = import.meta.url.endsWith(".ts") ? "./relayer-prover-process.ts" : "./relayer-prover-process.js";
    const file = fileURLToPath(new URL(name, import.meta.url));
    // No environment: the relayer's key is in it, and no proof needs that.
    const started = fork(file, [directory, set], {
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.unref();
    started.channel?.unref();
    started.on("message", (answer: ProverAnswer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ("proof" in answer) asked?.resolve(answer.proof);
      else asked?.reject(new SottoError(answer.failure.code, answer.failure.message));
    });
    const ended = () => {
      if (child === started) child = undefined;
      for (const { reject } of waiting.values()) reject(new SottoError("PROVER_ENDED", "the prover's process ended"));
      waiting.clear();
    };
    started.on("error", ended);
    started.on("exit", ended);
    return started;
  };
  return {
    artifacts: { set },
    async prove(circuit, input) {
      if (closed) throw new SottoError("PROVER_ENDED", "the service is ending");
      child ??= start();
      questions += 1;
      const id = questions;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child?.send({ id, circuit, input } satisfies ProverQuestion);
      });
    },
    async close() {
      closed = true;
      const last = child;
      if (last === undefined) return;
      const ended = new Promise((resolve) => last.once("exit", resolve));
      last.ref();
      last.kill("SIGTERM");
      await ended;
    },
  };
}
