// What payers may show beside a private payment, such as where the money comes from. The paywall knows only this interface. An
// attachment never decides whether a payment counts: the handler sees what was shown, or that nothing was.
import type { PaywallCore } from "./method.ts";
import type { ShownPayment } from "./types.ts";

/** Something that a 402 asks payers to show beside a private payment. It is opened once for each paywall that has it. */
export interface PaymentAttachment {
  /**
   * The field of a 402's `payment` that asks for it. Unique among the attachments and methods of a paywall: 1 to 32 letters, digits
   * and hyphens, with a lower-case letter first.
   */
  readonly name: string;
  /**
   * The field of the handler's `payment` with what was shown: letters, and not a field of every payment. A format whose payments are
   * JSON, such as x402's, shows it in the payment's field of this name, as the value of the first header.
   */
  readonly field: string;
  /** The request headers in which it is shown. Handlers see them too: nobody can pay with an attachment. */
  readonly headers: readonly string[];
  /** The circuits whose proofs it checks. Their keys are read from the service, and pinned. Default: none. */
  readonly circuits?: readonly string[] | undefined;
  /** Checks its options. An error prevents the paywall from opening. */
  open(core: AttachmentCore): OpenAttachment | Promise<OpenAttachment>;
}

/** An attachment of one paywall. */
export interface OpenAttachment {
  /** The field's value if nothing was shown, and if what was shown could not be read. */
  readonly nothing: unknown;
  /**
   * What each 402 asks for: JSON as `parseOffers` of @sotto/protocol accepts it. Called once, when the paywall opens. Undefined asks for
   * nothing.
   */
  asks(): object | undefined;
  /**
   * Reads what is shown beside a private payment that passed every check. If it throws, or takes more than 5 s, the request is
   * served as if nothing had been shown.
   * @returns the field's value
   */
  read(shown: ShownAttachment): Promise<unknown>;
  /** Stops its timers. */
  close?(): Promise<void>;
}

/** A payment, and the request that may show something beside it. */
export interface ShownAttachment {
  /** The payment. It passed every check. */
  readonly payment: ShownPayment;
  /** The values of a header of the request. @param name in lower case */
  header(name: string): readonly string[];
}

/** What an attachment may use of its paywall. */
export interface AttachmentCore extends Pick<PaywallCore, "origin" | "deployment" | "clock" | "report"> {
  /**
   * Checks a proof of one of the attachment's circuits. Proofs are checked one at a time, in turn with those of payments.
   * @param proof eight decimal words in the wire's order
   * @param signals the public signals in order, decimal
   * @returns whether it is valid; false for a malformed one
   * @throws CheckUnavailable while the paywall has no keys, and if too many checks wait
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
}
