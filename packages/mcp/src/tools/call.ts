import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { PurchaseProgress, PurchaseStage } from "@sotto/client";
import type { Agent } from "../agent/agent.ts";
import { askPerson, type Extra } from "../agent/approval.ts";
import { AgentError } from "../errors.ts";

/** Order of the stages, for progress notifications. */
const STAGES: readonly PurchaseStage[] = [
  "challenge",
  "recipient",
  "split",
  "funds",
  "proving",
  "verifying",
  "settling",
  "confirming",
  "paid",
  "presenting",
  "retrying",
  "delivered",
];

/**
 * One call of a paying tool: its deadline, which waiting for a person extends; its progress; and how far its payment got.
 */
export class PayingCall {
  readonly #agent: Agent;
  readonly #server: Server;
  readonly #extra: Extra;
  readonly #timeoutMs: number;
  readonly #late = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #reached = -1;
  /** The payment, once it is settled. */
  paid: { readonly amount: bigint; readonly transaction: string } | undefined;

  constructor(agent: Agent, server: Server, extra: Extra, timeoutMs: number) {
    this.#agent = agent;
    this.#server = server;
    this.#extra = extra;
    this.#timeoutMs = timeoutMs;
    this.#start();
  }

  /** Aborts if the client cancels, or at the deadline. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#extra.signal, this.#late.signal]);
  }

  /** Whether the service has seen the payment. */
  get atService(): boolean {
    return this.#reached >= STAGES.indexOf("verifying");
  }

  /** Whether the server has seen the proof of payment. */
  get shown(): boolean {
    return this.#reached >= STAGES.indexOf("presenting");
  }

  readonly onProgress = ({ stage, price, txSignature }: PurchaseProgress): void => {
    this.#reached = Math.max(this.#reached, STAGES.indexOf(stage));
    if (txSignature !== undefined) this.paid = { amount: price, transaction: txSignature };
    const progressToken = this.#extra._meta?.progressToken;
    if (progressToken === undefined) return;
    const params = { progressToken, progress: this.#reached + 1, total: STAGES.length, message: stage };
    this.#extra.sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
  };

  /** Asks a person. The time they take does not count. @throws AgentError APPROVAL_* */
  async ask(question: string): Promise<void> {
    clearTimeout(this.#timer);
    await askPerson(this.#server, this.#extra, question, this.#agent.approvalMs);
    this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#timer = setTimeout(
      () =>
        this.#late.abort(
          new AgentError(
            "CALL_TIMED_OUT",
            `the call took more than ${this.#timeoutMs} ms; the same call resumes it and pays at most once`,
          ),
        ),
      this.#timeoutMs,
    );
  }
}
