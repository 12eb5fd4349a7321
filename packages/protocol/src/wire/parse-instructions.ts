import { assertBinding, type ShieldedAddressBinding } from "../binding/binding.ts";
import { normalizeSignature } from "../binding/signature.ts";
import { assertTimestamp } from "../contexts.ts";
import { fail, recode } from "../errors.ts";
import { parseAddress } from "../ethereum-address.ts";
import { type Fields, fieldsOf, parseBoolean, parseConstant, parseHttpUrl, parseText } from "../object-fields.ts";
import { parseChainId } from "../payment/claims.ts";
import { parseScheduleReference } from "../schedule/reference.ts";
import { assertArray, assertInteger, assertObject, parseAmount } from "../validate.ts";
import type { InstructionsRecipient, PaymentInstructions } from "./instructions.ts";
import { isPrice } from "./price.ts";

const CODE = "INSTRUCTIONS_INVALID";
const MESSAGE = /^[^\p{C}]{1,256}$/u;
const REQUEST_ID = /^zk_req_[0-9]{1,16}_[0-9A-Za-z]{1,64}$/;
const MAX_DECIMALS = 18;

const inside = (field: Fields, name: string): Fields => fieldsOf(field(name), name, CODE);

/** The price: `amount` and `amountBaseUnits` must be exactly equal. */
function parsePrice(payment: Fields) {
  const decimals = assertInteger(payment("decimals"), 0, MAX_DECIMALS, "decimals");
  const baseUnits = parseAmount(payment("amountBaseUnits"), "amountBaseUnits");
  const amount = payment("amount");
  if (!isPrice(amount, baseUnits, decimals))
    fail(CODE, "amount must be a number above 0, exactly equal to amountBaseUnits / 10^decimals", { decimals });
  return { amount, amountBaseUnits: String(baseUnits), decimals };
}

type Binding = ShieldedAddressBinding | undefined;

function parseRecipient(recipient: Fields, chainId: bigint, pool: string, known: Binding): InstructionsRecipient {
  const { phone, wallet, key, issuedAt, service } =
    known ??
    assertBinding({
      phone: recipient("phone"),
      wallet: recipient("wallet"),
      key: recipient("shieldedAddress"),
      chainId,
      pool,
      service: recipient("service"),
      issuedAt: recipient("issuedAt"),
    });
  const encryptedMapping = parseBoolean(recipient("encryptedMapping"), "encryptedMapping");
  const signature = normalizeSignature(recipient("signature"));
  return { phone, wallet, encryptedMapping, shieldedAddress: key, signature, issuedAt, service };
}

function parseZkProof(zkProof: Fields): PaymentInstructions["payment"]["zkProof"] {
  const inputs = assertArray(zkProof("expectedPublicInputs"), 3, CODE, "expectedPublicInputs");
  const limit = zkProof("maxHeaderLength");
  return {
    required: parseBoolean(zkProof("required"), "required"),
    circuitUrl: parseHttpUrl(zkProof("circuitUrl"), "circuitUrl"),
    provingKeyUrl: parseHttpUrl(zkProof("provingKeyUrl"), "provingKeyUrl"),
    expectedPublicInputs: [
      parseConstant(inputs[0], "recipientAddress", "expectedPublicInputs[0]"),
      parseConstant(inputs[1], "resourceUrl", "expectedPublicInputs[1]"),
      parseConstant(inputs[2], "encryptedAmount", "expectedPublicInputs[2]"),
    ],
    ...(limit === undefined
      ? {}
      : { maxHeaderLength: assertInteger(limit, 1, Number.MAX_SAFE_INTEGER, "maxHeaderLength") }),
  };
}

function parsePaymentTerms(payment: Fields, known: Binding): PaymentInstructions["payment"] {
  const chainId = parseChainId(payment("chainId"));
  const pool = parseAddress(payment("pool"), "pool");
  const privacy = inside(payment, "privacy");
  const schedule = payment("schedule");
  return {
    method: parseConstant(payment("method"), "service-zk", "method"),
    recipient: parseRecipient(inside(payment, "recipient"), chainId, pool, known),
    ...(schedule === undefined ? {} : { schedule: parseScheduleReference(schedule) }),
    ...parsePrice(payment),
    currency: parseConstant(payment("currency"), "USDC", "currency"),
    asset: parseAddress(payment("asset"), "asset"),
    chainId: String(chainId),
    pool,
    privacy: {
      amountEncryption: parseConstant(privacy("amountEncryption"), "elgamal", "amountEncryption"),
      senderPrivacy: parseConstant(privacy("senderPrivacy"), "zero-knowledge", "senderPrivacy"),
      proofSystem: parseConstant(privacy("proofSystem"), "groth16", "proofSystem"),
    },
    zkProof: parseZkProof(inside(payment, "zkProof")),
    verifyEndpoint: parseHttpUrl(payment("verifyEndpoint"), "verifyEndpoint"),
    settleEndpoint: parseHttpUrl(payment("settleEndpoint"), "settleEndpoint"),
  };
}

/**
 * Parses the body of a 402 response strictly: all fields must be present, well-formed and in range, the price must be
 * exact, and the recipient's shielded address must be valid. Ignores unknown fields; `parseOffers` reads those that offer
 * other ways to pay. The caller checks that the wallet
 * signed the address, and decides whether to pay this price to this recipient.
 * @param json the parsed JSON; limit the length of its text before parsing it
 * @throws SottoError INSTRUCTIONS_INVALID; the message names the field
 */
export const parseInstructions = (json: unknown): PaymentInstructions => parseOwnInstructions(json, undefined);

/**
 * `parseInstructions` for a body that was built here.
 * @param known the binding in the body, if it was checked already: decoding its key takes longer than everything else
 * @throws SottoError INSTRUCTIONS_INVALID
 */
export function parseOwnInstructions(json: unknown, known: ShieldedAddressBinding | undefined): PaymentInstructions {
  const body = fieldsOf(json, "payment instructions", CODE);
  return recode(CODE, "not payment instructions", () => {
    const metadata = inside(body, "metadata");
    const idForm = "of the form zk_req_<milliseconds>_<letters and digits>";
    return {
      status: parseConstant(body("status"), 402, "status"),
      message: parseText(body("message"), MESSAGE, "message", "1 to 256 characters without control characters"),
      protocol: parseConstant(body("protocol"), "x402", "protocol"),
      privacy: parseConstant(body("privacy"), "zero-knowledge", "privacy"),
      payment: parsePaymentTerms(inside(body, "payment"), known),
      metadata: {
        requestId: parseText(metadata("requestId"), REQUEST_ID, "requestId", idForm),
        timestamp: assertTimestamp(metadata("timestamp")),
        resource: parseHttpUrl(metadata("resource"), "resource"),
      },
    };
  });
}

/** The binding that the recipient's wallet signed. @throws SottoError INSTRUCTIONS_INVALID */
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
      chainId: parseChainId(chainId),
      pool,
      service,
      issuedAt,
    });
  });
}
