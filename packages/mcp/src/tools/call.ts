import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { PurchaseProgress, PurchaseStage } from "@sotto/client";
import type { Wallet } from "@sotto/wallet";
import type { Agent } from "../agent/agent.ts";
import { askPerson, type Extra } from "../agent/approval.ts";
import type { AttendNow } from "../agent/wallet-access.ts";
import { AgentError } from "../errors.ts";

/** Order of the stages of a payment, for progress notifications. */
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

/** Maximum number of questions in one call: for a price and for a changed recipient, and once more for changed terms. */
const MAX_QUESTIONS = 3;

/** Ends an attempt to pay whose next step a person has to approve. */
class ApprovalNeeded extends Error {
  override readonly name = "ApprovalNeeded";
}

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
  /** The questions that a person has approved in this call. */
  readonly #approved = new Set<string>();
  /** The payment, once it is settled. */
  paid: { readonly amount: bigint; readonly transaction: string } | undefined;
  /** Value of the prepaid token that was sent, base units. */
  token: bigint | undefined;

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
    return this.token !== undefined || this.#reached >= STAGES.indexOf("presenting");
  }

  readonly onProgress = ({ stage, price, txSignature }: PurchaseProgress): void => {
    this.#reached = Math.max(this.#reached, STAGES.indexOf(stage));
    if (stage === "token") this.token = price;
    if (txSignature !== undefined) this.paid = { amount: price, transaction: txSignature };
    const progressToken = this.#extra._meta?.progressToken;
    if (progressToken === undefined) return;
    const params = { progressToken, progress: this.#reached + 1, total: STAGES.length, message: stage };
    this.#extra.sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
  };

  /**
   * Runs an attempt to pay with the wallet. If the attempt needs approval, the wallet is released while a person
   * decides, so that other programs can use it. Then the attempt runs again and checks the terms again.
   * @throws AgentError APPROVAL_*; what the attempt throws, for which `onFailure` may return a result instead
   */
  async withWallet<T>(
    attempt: (wallet: Wallet, attend: AttendNow) => Promise<T>,
    onFailure: (wallet: Wallet, error: unknown) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      try {
        return await this.#agent.use(
          (wallet, attend) =>
            attempt(wallet, attend).catch((error: unknown) => {
              if (error instanceof ApprovalNeeded) throw error;
              return onFailure(wallet, error);
            }),
          this.signal,
        );
      } catch (error) {
        if (!(error instanceof ApprovalNeeded)) throw error;
        await this.#ask(error.message);
      }
    }
  }

  /** Ends the attempt unless a person has approved exactly this question. */
  needApproval(question: string): void {
    if (!this.#approved.has(question)) throw new ApprovalNeeded(question);
  }

  /** Asks a person. The time they take does not count. @throws AgentError APPROVAL_* */
  async #ask(question: string): Promise<void> {
    if (this.#approved.size === MAX_QUESTIONS)
      throw new AgentError("APPROVAL_DECLINED", "the terms changed each time a person approved them; nothing was paid");
    clearTimeout(this.#timer);
    await askPerson(this.#server, this.#extra, question, this.#agent.approvalMs);
    this.#approved.add(question);
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
