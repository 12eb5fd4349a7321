import { randomBytes } from "@noble/hashes/utils.js";
import { assertBinding } from "../binding/binding.ts";
import { assertTimestamp } from "../contexts.ts";
import { recode } from "../errors.ts";
import { readHttpUrl } from "../fields.ts";
import { assertObject } from "../validate.ts";
import type { InstructionsOptions, PaymentInstructions } from "./instructions.ts";
import { parseInstructions } from "./parse-instructions.ts";
import { priceNumber } from "./price.ts";
import { MAX_PROOF_HEADER_LENGTH } from "./proof-header.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 16;

/**
 * An id for a request: 16 random letters and digits behind its time.
 *
 * @param now ms
 * @throws SottoError INVALID_INTEGER
 */
export function requestId(now: number): string {
  // 256 is no multiple of 62: eight letters come up a little more often, which an id does not mind.
  const letters = Array.from(randomBytes(RANDOM_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join("");
  return `zk_req_${assertTimestamp(now, "now")}_${letters}`;
}

/**
 * The body of a 402 answer.
 *
 * @throws SottoError INSTRUCTIONS_INVALID, also for a price that no JSON number says exactly
 */
export function buildInstructions(options: InstructionsOptions): PaymentInstructions {
  return recode("INSTRUCTIONS_INVALID", "payment instructions cannot be made", () => {
    assertObject(options, "the options");
    const { signature, price, asset, decimals, resource, now } = options;
    const { phone, wallet, key, chainId, pool, service, issuedAt } = assertBinding(options.binding);
    const base = readHttpUrl(options.serviceUrl, "serviceUrl").replace(/\/+$/, "");
    const encryptedMapping = options.encryptedMapping ?? phone !== "";
    return parseInstructions({
      status: 402,
      message: "Payment Required",
      protocol: "x402",
      privacy: "zero-knowledge",
      payment: {
        method: "service-zk",
        recipient: { phone, wallet, encryptedMapping, shieldedAddress: key, signature, issuedAt, service },
        amount: priceNumber(price, decimals),
        amountBaseUnits: String(price),
        currency: "USDC",
        asset,
        decimals,
        chainId: String(chainId),
        pool,
        privacy: { amountEncryption: "elgamal", senderPrivacy: "zero-knowledge", proofSystem: "groth16" },
        zkProof: {
          required: true,
          circuitUrl: `${base}/circuits`,
          provingKeyUrl: `${base}/proving-key`,
          expectedPublicInputs: ["recipientAddress", "resourceUrl", "encryptedAmount"],
          maxHeaderLength: MAX_PROOF_HEADER_LENGTH,
        },
        verifyEndpoint: `${base}/verify`,
        settleEndpoint: `${base}/settle`,
      },
      metadata: { requestId: requestId(now), timestamp: now, resource },
    });
  });
}
