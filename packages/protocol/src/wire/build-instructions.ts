import { randomBytes } from "@noble/hashes/utils.js";
import { assertBinding } from "../binding/binding.ts";
import { assertTimestamp } from "../contexts.ts";
import { recode } from "../errors.ts";
import { parseHttpUrl } from "../object-fields.ts";
import { assertObject } from "../validate.ts";
import type { InstructionsOptions, PaymentInstructions } from "./instructions.ts";
import { parseOwnInstructions } from "./parse-instructions.ts";
import { priceNumber } from "./price.ts";
import { MAX_PROOF_HEADER_LENGTH } from "./proof-header.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 16;

/**
 * A request id: the time, then 16 random letters and digits.
 * @param now ms
 * @throws SottoError INVALID_INTEGER
 */
export function requestId(now: number): string {
  // 256 is not a multiple of 62, so eight of the characters are slightly more frequent, which is harmless in an id.
  const letters = Array.from(randomBytes(RANDOM_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join("");
  return `zk_req_${assertTimestamp(now, "now")}_${letters}`;
}

/**
 * The body of a 402 response.
 * @throws SottoError INSTRUCTIONS_INVALID, including if no JSON number equals the price exactly
 */
export function buildInstructions(options: InstructionsOptions): PaymentInstructions {
  return recode("INSTRUCTIONS_INVALID", "cannot build payment instructions", () => {
    assertObject(options, "the options");
    const { signature, schedule, price, asset, decimals, resource, now } = options;
    const binding = assertBinding(options.binding);
    const { phone, wallet, key, chainId, pool, service, issuedAt } = binding;
    const base = parseHttpUrl(options.serviceUrl, "serviceUrl").replace(/\/+$/, "");
    const encryptedMapping = options.encryptedMapping ?? phone !== "";
    const body = {
      status: 402,
      message: "Payment Required",
      protocol: "x402",
      privacy: "zero-knowledge",
      payment: {
        method: "service-zk",
        recipient: { phone, wallet, encryptedMapping, shieldedAddress: key, signature, issuedAt, service },
        ...(schedule === undefined ? {} : { schedule }),
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
    };
    return parseOwnInstructions(body, binding);
  });
}
