// What payer and merchant need of the service's interface, over HTTP as from any other machine.
import { setTimeout as wait } from "node:timers/promises";
import type { DepositRequest, WithdrawalCall } from "@sotto/client";
import type { WireBundle } from "@sotto/protocol";
import { CommandError } from "../lib/command.ts";

type Body = Readonly<Record<string, unknown>>;

/** Longest time to ask again for what is pending, and how often, ms. */
const PENDING_MS = 60_000;
const ASK_AGAIN_MS = 250;
/** Longest time to come back to a service that is busy, ms. */
const BUSY_MS = 30_000;

export class ServiceClient {
  readonly #url: string;

  /** @param url base address of the service, with its base path */
  constructor(url: string) {
    this.#url = url;
  }

  /** Hands in a signed deposit. @returns the hash of its transaction, mined */
  async deposit(request: DepositRequest): Promise<string> {
    return this.#mined(await this.#post("deposit", request));
  }

  /** Hands in a withdrawal or a merge. @returns the hash of its transaction, mined */
  async withdraw(call: WithdrawalCall): Promise<string> {
    return this.#mined(await this.#post("withdraw", call));
  }

  /** @returns the token that settles this payment, and its seconds @throws CommandError PAYMENT_INVALID */
  async verify(bundle: WireBundle): Promise<{ readonly token: string; readonly expiresIn: number }> {
    const { valid, paymentToken, expiresIn, reason, message } = await this.#post("verify", bundle);
    if (valid !== true) throw new CommandError("PAYMENT_INVALID", `${String(reason)}: ${String(message)}`);
    return { token: String(paymentToken), expiresIn: Number(expiresIn) };
  }

  /** Settles what was verified, by the six fields of the interface. @returns the hash of its transaction, mined */
  async settle(bundle: WireBundle, paymentToken: string): Promise<string> {
    const { proof, publicSignals, encryptedAmount, recipientPublicKey, resourceUrl } = bundle;
    const fields = { proof, publicSignals, encryptedAmount, paymentToken, resource: resourceUrl, recipientPublicKey };
    return this.#mined(await this.#post("settle", fields));
  }

  async #mined(first: Body): Promise<string> {
    let answer = first;
    for (const end = Date.now() + PENDING_MS; answer["status"] === "pending" && Date.now() < end; ) {
      await wait(ASK_AGAIN_MS);
      answer = await this.#ask(new URL(String(answer["statusUrl"]), this.#url));
    }
    const { status, txSignature, reason } = answer;
    if (status === "success") return String(txSignature);
    throw new CommandError("NOT_SETTLED", `the service says ${String(status)}: ${String(reason ?? "no reason given")}`);
  }

  #post(name: string, body: object): Promise<Body> {
    const headers = { "content-type": "application/json" };
    return this.#ask(new URL(`${this.#url}/${name}`), { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** @throws CommandError SERVICE_REFUSED */
  async #ask(url: URL, init?: RequestInit): Promise<Body> {
    let response = await this.#fetch(url, init);
    // Every request may be made again: the service does once what it is asked twice.
    for (const end = Date.now() + BUSY_MS; response.status === 503 && Date.now() < end; ) {
      await wait(Number(response.headers.get("retry-after") ?? 1) * 1000);
      response = await this.#fetch(url, init);
    }
    const body = (await response.json().catch(() => ({}))) as Body;
    if (response.ok) return body;
    const { code = "NO_CODE", message = "no message" } = body;
    throw new CommandError("SERVICE_REFUSED", `${url} answers ${response.status} ${String(code)}: ${String(message)}`);
  }

  /** @throws CommandError SERVICE_UNREACHABLE */
  async #fetch(url: URL, init?: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (cause) {
      throw new CommandError("SERVICE_UNREACHABLE", `nothing answers at ${url}`, { cause });
    }
  }
}
