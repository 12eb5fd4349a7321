import { assertBinding, type ShieldedAddressBinding } from "../binding/binding.ts";
import { normalizeSignature } from "../binding/signature.ts";
import { assertTimestamp } from "../contexts.ts";
import { fail, recode } from "../errors.ts";
import { parseAddress } from "../ethereum-address.ts";
import { type Fields, fieldsOf, readBoolean, readConstant, readHttpUrl, readText } from "../fields.ts";
import { readChainId } from "../payment/claims.ts";
import { assertArray, assertInteger, assertObject, parseAmount } from "../validate.ts";
import type { InstructionsRecipient, PaymentInstructions } from "./instructions.ts";
import { isPrice } from "./price.ts";

const CODE = "INSTRUCTIONS_INVALID";
const MESSAGE = /^[^\p{C}]{1,256}$/u;
const REQUEST_ID = /^zk_req_[0-9]{1,16}_[0-9A-Za-z]{1,64}$/;
const MAX_DECIMALS = 18;

const inside = (field: Fields, name: string): Fields => fieldsOf(field(name), name, CODE);

/** The price: `amount` and `amountBaseUnits` must be exactly equal. */
function readPrice(payment: Fields) {
  const decimals = assertInteger(payment("decimals"), 0, MAX_DECIMALS, "decimals");
  const baseUnits = parseAmount(payment("amountBaseUnits"), "amountBaseUnits");
  const amount = payment("amount");
  if (!isPrice(amount, baseUnits, decimals))
    fail(CODE, "amount must be a number above 0, exactly equal to amountBaseUnits / 10^decimals", { decimals });
  return { amount, amountBaseUnits: String(baseUnits), decimals };
}

function readRecipient(recipient: Fields, chainId: bigint, pool: string): InstructionsRecipient {
  const { phone, wallet, key, issuedAt, service } = assertBinding({
    phone: recipient("phone"),
    wallet: recipient("wallet"),
    key: recipient("shieldedAddress"),
    chainId,
    pool,
    service: recipient("service"),
    issuedAt: recipient("issuedAt"),
  });
  const encryptedMapping = readBoolean(recipient("encryptedMapping"), "encryptedMapping");
  const signature = normalizeSignature(recipient("signature"));
  return { phone, wallet, encryptedMapping, shieldedAddress: key, signature, issuedAt, service };
}

function readZkProof(zkProof: Fields): PaymentInstructions["payment"]["zkProof"] {
  const inputs = assertArray(zkProof("expectedPublicInputs"), 3, CODE, "expectedPublicInputs");
  const limit = zkProof("maxHeaderLength");
  return {
    required: readBoolean(zkProof("required"), "required"),
    circuitUrl: readHttpUrl(zkProof("circuitUrl"), "circuitUrl"),
    provingKeyUrl: readHttpUrl(zkProof("provingKeyUrl"), "provingKeyUrl"),
    expectedPublicInputs: [
      readConstant(inputs[0], "recipientAddress", "expectedPublicInputs[0]"),
      readConstant(inputs[1], "resourceUrl", "expectedPublicInputs[1]"),
      readConstant(inputs[2], "encryptedAmount", "expectedPublicInputs[2]"),
    ],
    ...(limit === undefined
      ? {}
      : { maxHeaderLength: assertInteger(limit, 1, Number.MAX_SAFE_INTEGER, "maxHeaderLength") }),
  };
}

function readPayment(payment: Fields): PaymentInstructions["payment"] {
  const chainId = readChainId(payment("chainId"));
  const pool = parseAddress(payment("pool"), "pool");
  const privacy = inside(payment, "privacy");
  const price = readPrice(payment);
  return {
    method: readConstant(payment("method"), "service-zk", "method"),
    recipient: readRecipient(inside(payment, "recipient"), chainId, pool),
    ...price,
    currency: readConstant(payment("currency"), "USDC", "currency"),
    asset: parseAddress(payment("asset"), "asset"),
    chainId: String(chainId),
    pool,
    privacy: {
      amountEncryption: readConstant(privacy("amountEncryption"), "elgamal", "amountEncryption"),
      senderPrivacy: readConstant(privacy("senderPrivacy"), "zero-knowledge", "senderPrivacy"),
      proofSystem: readConstant(privacy("proofSystem"), "groth16", "proofSystem"),
    },
    zkProof: readZkProof(inside(payment, "zkProof")),
    verifyEndpoint: readHttpUrl(payment("verifyEndpoint"), "verifyEndpoint"),
    settleEndpoint: readHttpUrl(payment("settleEndpoint"), "settleEndpoint"),
  };
}

/**
 * Parses the body of a 402 response strictly: all fields must be present, well-formed and in range, the price exact, and
 * the recipient's shielded address valid. Ignores unknown fields. The caller checks that the wallet signed the address,
 * and decides whether to pay this price to it.
 *
 * @param json the parsed JSON; limit the length of its text before parsing it
 * @throws SottoError INSTRUCTIONS_INVALID; the message names the field
 */
export function parseInstructions(json: unknown): PaymentInstructions {
  const body = fieldsOf(json, "payment instructions", CODE);
  return recode(CODE, "not payment instructions", () => {
    const metadata = inside(body, "metadata");
    const idForm = "of the form zk_req_<milliseconds>_<letters and digits>";
    return {
      status: readConstant(body("status"), 402, "status"),
      message: readText(body("message"), MESSAGE, "message", "1 to 256 characters without control characters"),
      protocol: readConstant(body("protocol"), "x402", "protocol"),
      privacy: readConstant(body("privacy"), "zero-knowledge", "privacy"),
      payment: readPayment(inside(body, "payment")),
      metadata: {
        requestId: readText(metadata("requestId"), REQUEST_ID, "requestId", idForm),
        timestamp: assertTimestamp(metadata("timestamp")),
        resource: readHttpUrl(metadata("resource"), "resource"),
      },
    };
  });
}

/**
 * The binding that the recipient's wallet signed.
 *
 * @throws SottoError INSTRUCTIONS_INVALID
 */
export function bindingOfInstructions(instructions: PaymentInstructions): ShieldedAddressBinding {
  return recode(CODE, "not payment instructions", () => {
    assertObject(instructions, "the instructions");
    const { payment } = instructions;
    assertObject(payment, "payment");
    const { recipient, chainId, pool } = payment;
    assertObject(recipient, "recipient");
    const { phone, wallet, shieldedAddress, issuedAt, service } = recipient;
    return assertBinding({
      phone,
      wallet,
      key: shieldedAddress,
      chainId: readChainId(chainId),
      pool,
      service,
      issuedAt,
    });
  });
}
