// Parses requests to x402's /verify and /settle, and compares the payment with the payment requirements.
import { baseUrl, type ReceivedPayment } from "@sotto/protocol";
import {
  checkX402Payment,
  parseX402Payload,
  parseX402Terms,
  sameX402Terms,
  X402_VERSION,
  X402Error,
  type X402Refusal,
  type X402Terms,
} from "@sotto/protocol/x402";
import type { Config } from "../config/config.ts";
import type { VerifyFields } from "../payments/verify.ts";
import type { PoolFacts } from "../pool/facts.ts";
import type { X402Request } from "./schemas.ts";

export interface X402Payment {
  readonly terms: X402Terms;
  readonly payment: ReceivedPayment;
  /** The further fields of the payload, as a body of /verify has them. */
  readonly fields: VerifyFields;
}

export interface ServedDeployment {
  readonly config: Pick<Config, "chainId" | "pool" | "publicUrl">;
  readonly facts: Pick<PoolFacts, "token" | "decimals">;
}

type Refused = { readonly refusal: { readonly reason: string; readonly message: string } };

/**
 * @returns the payment, or why it does not meet the requirements
 * @throws SottoError X402_VERSION_UNSUPPORTED, X402_SCHEME_UNSUPPORTED, X402_NETWORK_UNSUPPORTED,
 * X402_REQUIREMENTS_INVALID, X402_PAYLOAD_INVALID
 */
export function parseX402(request: X402Request, served: ServedDeployment): X402Payment | Refused {
  const { paymentPayload, paymentRequirements } = request;
  for (const version of [request.x402Version, paymentPayload.x402Version])
    if (version !== X402_VERSION)
      throw new X402Error("X402_VERSION_UNSUPPORTED", `x402Version must be ${X402_VERSION}, got ${version}`);
  const terms = parseX402Terms(paymentRequirements);
  if (terms.chainId !== BigInt(served.config.chainId))
    throw new X402Error("X402_NETWORK_UNSUPPORTED", `this service settles on eip155:${served.config.chainId}`);
  const payment = parseX402Payload(paymentPayload.payload);
  const refusal =
    checkDeployment(terms, served) ?? checkAccepted(paymentPayload.accepted, terms) ?? checkX402Payment(payment, terms);
  if (refusal !== undefined) return { refusal };
  return { terms, payment, fields: paymentPayload.payload as VerifyFields };
}

/** Whether requirements name the pool, token and address of this service. */
export function checkDeployment(terms: X402Terms, { config, facts }: ServedDeployment): Refused["refusal"] | undefined {
  const { chainId, pool, publicUrl } = config;
  const elsewhere = publicUrl !== undefined && baseUrl(terms.service) !== publicUrl;
  if (terms.pool === pool && terms.asset === facts.token && terms.decimals === facts.decimals && !elsewhere)
    return undefined;
  const where = elsewhere ? ` at ${publicUrl}` : "";
  const message = `this service settles in the pool ${pool} of ${facts.token}, ${facts.decimals} decimals, on eip155:${chainId}${where}`;
  return { reason: "DEPLOYMENT_MISMATCH", message };
}

/** The requirements that the payer accepted must be those that the resource server states. */
function checkAccepted(accepted: unknown, terms: X402Terms): Refused["refusal"] | undefined {
  if (sameX402Terms(parseX402Terms(accepted), terms)) return undefined;
  return { reason: "ACCEPTED_MISMATCH", message: "paymentPayload.accepted differs from paymentRequirements" };
}

export type { X402Refusal };
