// Attachments without a paywall, for a server that takes private payments in another format only.

import { Proofs } from "../checks/proofs.ts";
import { codeOf } from "../errors.ts";
import { CheckUnavailable } from "../outcome.ts";
import { openVerifier, readLock } from "../service/keys.ts";
import type { PaymentAttachment } from "./attachment.ts";
import { Attachments, circuitsOf, parseAttachments } from "./attachments.ts";
import { parseDeployment, parseOrigin, parseServiceUrl } from "./config.ts";
import { createReporter } from "./opening.ts";
import type { PaywallChain, PaywallOptions } from "./options.ts";
import type { OpenAttachments } from "./types.ts";

/** Where attachments are read: those options of a paywall that they depend on. */
export interface AttachmentsOptions extends Pick<PaywallOptions, "origin" | "service" | "keys" | "onEvent" | "clock"> {
  /** Chain and pool of the payments, and the set of keys. */
  readonly chain: Pick<PaywallChain, "chainId" | "pool" | "set">;
}

/** Attachments that are open until `close`. */
export interface OwnAttachments extends OpenAttachments {
  /** Stops their timers. */
  close(): Promise<void>;
}

/**
 * Opens attachments for a server without a paywall; one with a paywall uses `Paywall.attachments`. If the service does not answer, the
 * keys are read once something is shown. Until then, it counts as not shown.
 * @throws PaywallError INVALID_OPTION, SET_MISMATCH, KEY_NOT_PINNED; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN,
 *   ARTIFACTS_LOCK_INVALID; the errors of the attachments
 */
export async function openAttachments(
  attachments: readonly PaymentAttachment[],
  options: AttachmentsOptions,
): Promise<OwnAttachments> {
  const { clock = Date.now, chain, keys } = Object(options) as AttachmentsOptions;
  const checked = parseAttachments(attachments, []);
  const deployment = parseDeployment(chain);
  const [origin, service] = [parseOrigin(options.origin), parseServiceUrl(options.service)];
  const lock = await readLock(service, { ...deployment, set: chain.set }, keys);
  const circuits = circuitsOf(checked, lock);
  const report = createReporter(options);
  let opening: Promise<Proofs> | undefined;
  const proofs = (): Promise<Proofs> => {
    opening ??= openVerifier(service, lock, circuits).then((verifier) => new Proofs(verifier, circuits));
    return opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
  };
  await proofs().catch((error: unknown) => {
    if (codeOf(error) !== "SERVICE_UNAVAILABLE") throw error;
    report({ event: "trouble", reason: codeOf(error), error });
  });
  const verify = async (circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean> => {
    const ready = await proofs().catch((error: unknown) => {
      throw new CheckUnavailable(codeOf(error), undefined, error);
    });
    return ready.verify(circuit, proof, signals);
  };
  return Attachments.open(checked, { origin, deployment, clock, report, verify });
}
