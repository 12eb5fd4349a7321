// A paywall with scripted decisions, for tests of how an adapter handles a decision.
import type {
  Decision,
  MethodHeader,
  Outcome,
  PaidProof,
  Paywall,
  PaywallRequest,
  ResponseEnd,
} from "@sotto/resource-server";

const nothing = {} as PaidProof;

/** A refusal with headers that applications set as well. */
export const REFUSAL = {
  kind: "refused",
  status: 402,
  headers: { vary: "X-Payment-Proof", "access-control-expose-headers": "WWW-Authenticate" },
  body: {},
} as const;

/** A POST whose headers cannot be changed, as Deno's server and workers give requests to handlers. */
export function immutableRequest(url: string, headers: Readonly<Record<string, string>>): Request {
  const request = new Request(url, { method: "POST", body: "a body", headers });
  const refuse = () => {
    throw new TypeError("Headers are immutable");
  };
  Object.assign(request.headers, { set: refuse, delete: refuse, append: refuse });
  return request;
}

/** Invalid options. */
export const NONSENSE = { origin: "nowhere" } as never;

/** The decision on a preflight. */
export const PREFLIGHT = { kind: "preflight", headers: { "access-control-allow-origin": "*" } } as const;

export class ScriptedPaywall implements Pick<Paywall, "decide" | "close" | "removedHeaders"> {
  readonly requests: PaywallRequest[] = [];
  /** Outcomes, in the order that the adapter reported them. */
  readonly outcomes: Outcome[] = [];
  /** Outcomes and ends, in the order that the adapter reported them. */
  readonly reports: (Outcome | ResponseEnd)[] = [];
  readonly payment: PaidProof = { ...nothing, resource: "https://data.example/paid/a" };
  closed = false;
  answersPreflights = false;
  removedHeaders: readonly MethodHeader[] = [];
  #judge: (request: PaywallRequest) => Decision | Promise<Decision> = () => this.paid();
  #told: (() => void)[] = [];

  paid(): Decision {
    const finish = async (outcome: Outcome) => {
      this.outcomes.push(outcome);
      this.#tell(outcome);
    };
    return { kind: "paid", payment: this.payment, headers: { vary: "X-Payment-Proof" }, finish };
  }

  /** A paid decision that depends on the end of the response. */
  paidUntilEnd(): Decision {
    const ended = async (end: ResponseEnd) => this.#tell(end);
    return { ...(this.paid() as Extract<Decision, { kind: "paid" }>), ended };
  }

  #tell(report: Outcome | ResponseEnd): void {
    this.reports.push(report);
    for (const tell of this.#told.splice(0)) tell();
  }

  judges(judge: (request: PaywallRequest) => Decision | Promise<Decision>): void {
    this.#judge = judge;
  }

  async decide(request: PaywallRequest): Promise<Decision> {
    this.requests.push(request);
    return this.#judge(request);
  }

  /** Resolves once the adapter has reported this many outcomes. */
  async finished(count: number): Promise<void> {
    while (this.outcomes.length < count) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  /** Resolves once the adapter has made this many reports of outcomes and ends. */
  async reported(count: number): Promise<void> {
    while (this.reports.length < count) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
