// Compares this server's clock with the chain's time. With a wrong clock, the server would take the money and then refuse the
// proof as too old, or as dated in the future.
import { type Chain, chainTime, clockLead, MAX_CLOCK_LEAD_SECONDS } from "@sotto/chain";
import { PaywallError } from "../errors.ts";

/** Interval between comparisons while the clock is right, ms. They run in the background. */
const RIGHT_MS = 30_000;
/** Interval between comparisons while it is wrong, ms. Requests wait for them. */
const WRONG_MS = 1_000;
/**
 * Maximum seconds by which the clock may be behind the chain. To such a server, the proof of a client with a correct clock is
 * dated in the future, so the server accepts it as many seconds later.
 */
const MAX_LAG_SECONDS = 60;
/** A clock that advanced by this much more or less than the time that has passed was set, ms. */
const SET_MS = 2_000;

export interface ServerClockParts {
  readonly chain: Pick<Chain, "head" | "pending" | "expectedChainId">;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic?: (() => number) | undefined;
}

interface Compared {
  /** When it was compared, by both clocks. */
  readonly at: { readonly clock: number; readonly monotonic: number };
  readonly problem: PaywallError | undefined;
}

export class ServerClock {
  readonly #chain: ServerClockParts["chain"];
  readonly #clock: () => number;
  readonly #monotonic: () => number;
  #last: Compared | undefined;
  #comparison: Promise<Compared> | undefined;
  /** Whether no node answered the last comparison. */
  #isUnanswered = false;

  constructor({ chain, clock, monotonic = () => performance.now() }: ServerClockParts) {
    this.#chain = chain;
    this.#clock = clock;
    this.#monotonic = monotonic;
  }

  /** Compares the clock now. @throws PaywallError PAYWALL_CLOCK_WRONG; ChainError if no node answers */
  async assertRight(): Promise<void> {
    const { problem } = await this.#compare();
    if (problem !== undefined) throw problem;
  }

  /**
   * Why the clock is wrong; undefined if it is right, or if no node answers. Asks the chain at most every 30 s, and at once
   * after the clock was set. Waits for the chain only if the clock may be wrong, and not again while no node answers.
   */
  async problem(): Promise<PaywallError | undefined> {
    const last = this.#last;
    if (last === undefined) return this.#problemNow();
    const passed = this.#monotonic() - last.at.monotonic;
    if (Math.abs(this.#clock() - last.at.clock - passed) > SET_MS) return this.#problemNow();
    if (passed < (last.problem === undefined ? RIGHT_MS : WRONG_MS)) return last.problem;
    const comparison = this.#problemNow();
    return last.problem === undefined ? undefined : comparison;
  }

  async #problemNow(): Promise<PaywallError | undefined> {
    const waits = !this.#isUnanswered;
    const comparison = this.#compare().then(
      ({ problem }) => {
        this.#isUnanswered = false;
        return problem;
      },
      () => {
        // An unreachable chain says nothing about the clock.
        this.#isUnanswered = true;
        return this.#last?.problem;
      },
    );
    return waits ? comparison : this.#last?.problem;
  }

  #compare(): Promise<Compared> {
    this.#comparison ??= this.#ask().finally(() => {
      this.#comparison = undefined;
    });
    return this.#comparison;
  }

  async #ask(): Promise<Compared> {
    const chain = this.#chain;
    const head = await chain.head();
    const now = this.#clock();
    const time = await chainTime({ chain, head, now, chainId: chain.expectedChainId });
    const lead = time === undefined ? 0 : clockLead(now, time);
    this.#last = { at: { clock: now, monotonic: this.#monotonic() }, problem: problemOf(lead) };
    return this.#last;
  }
}

/** @param lead seconds by which the clock is ahead; negative if it is behind */
function problemOf(lead: number): PaywallError | undefined {
  const isBehind = -lead > MAX_LAG_SECONDS;
  if (!isBehind && lead <= MAX_CLOCK_LEAD_SECONDS) return undefined;
  const [seconds, direction] = isBehind ? [-lead, "behind"] : [lead, "ahead"];
  const side = isBehind ? "behind" : "ahead of";
  const message = `this server's clock is ${seconds} s ${side} the chain's time, so it would refuse payments that it took; set the clock`;
  return new PaywallError("PAYWALL_CLOCK_WRONG", message, { seconds, direction });
}
