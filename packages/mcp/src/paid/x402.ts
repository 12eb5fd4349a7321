// The fields of x402's transport for MCP (version 2), between a paid tool and its caller.
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  buildInstructions,
  MAX_PAYMENT_AGE_MS,
  type PaymentInstructions,
  parseInstructions,
  type ScheduleJson,
} from "@sotto/protocol";
import { parseX402Terms, X402_SCHEME, X402_VERSION, type X402Requirements, x402Network } from "@sotto/protocol/x402";
import { OFFERS_KEY } from "./method.ts";

/** Key in `_meta` of a call: the PaymentPayload. */
export const PAYMENT_KEY = "x402/payment";
/** Key in `_meta` of a result: the SettlementResponse. */
export const RESPONSE_KEY = "x402/payment-response";
/** Ours, in `_meta` of a refusal that is not final: seconds after which the same payment may pass. */
export const RETRY_KEY = "sotto/retry-after";
/**
 * Ours, in `_meta` of a result, or in the data of an error, that asks for a payment: the schedule of addresses that the terms
 * name. A server over stdio has no path to publish it.
 */
export const SCHEDULE_KEY = "sotto/schedule";
const ERROR_KEY = "x402/error";

export interface PaymentRequired {
  readonly x402Version: number;
  readonly error: string;
  readonly resource: { readonly url: string; readonly description?: string | undefined };
  readonly accepts: readonly unknown[];
}

/** Converts a paywall's payment instructions to requirements of the scheme `sotto`. */
export function requirementsOf({ payment, metadata }: PaymentInstructions): X402Requirements {
  const { recipient, schedule, chainId, asset, amountBaseUnits, pool, decimals, verifyEndpoint } = payment;
  const { wallet, shieldedAddress, signature, issuedAt, service, phone } = recipient;
  return {
    scheme: X402_SCHEME,
    network: x402Network(BigInt(chainId)),
    asset,
    amount: amountBaseUnits,
    payTo: wallet,
    maxTimeoutSeconds: MAX_PAYMENT_AGE_MS / 1000,
    extra: {
      pool,
      decimals,
      resource: metadata.resource,
      service: verifyEndpoint.replace(/\/verify$/, ""),
      recipient: {
        shieldedAddress,
        signature,
        issuedAt,
        ...(service === "" ? {} : { service }),
        ...(phone === "" ? {} : { phone }),
      },
      ...(schedule === undefined ? {} : { schedule }),
      challenge: metadata.requestId,
      paymentFlow: "upfront",
    },
  };
}

/**
 * Converts requirements to payment instructions, as the paying fetch reads them.
 * @throws SottoError X402_*, INSTRUCTIONS_INVALID
 */
export function instructionsOf(requirements: unknown, now: number): PaymentInstructions {
  const { chainId, pool, wallet, recipient, ...terms } = parseX402Terms(requirements);
  const { asset, decimals, amount: price, schedule, service: serviceUrl, resource } = terms;
  const { shieldedAddress: key, signature, issuedAt, phone } = recipient;
  return buildInstructions({
    binding: { phone, wallet, key, chainId, pool, service: recipient.service, issuedAt } as Parameters<
      typeof buildInstructions
    >[0]["binding"],
    signature,
    schedule,
    price,
    asset,
    decimals,
    serviceUrl,
    resource,
    now,
  });
}

/** What a paid tool asks for. */
export interface Asked {
  readonly name: string;
  readonly description: string | undefined;
  readonly instructions: PaymentInstructions;
  /** Undefined for a lasting address. */
  readonly schedule: ScheduleJson | undefined;
}

/** @throws SottoError INSTRUCTIONS_INVALID */
export const askedBy = ({ name, description, schedule }: Omit<Asked, "instructions">, body: object): Asked => ({
  name,
  description,
  schedule,
  instructions: parseInstructions(body),
});

/** x402's name of a tool. */
export const toolUrl = (name: string): string => `mcp://tool/${encodeURIComponent(name)}`;

/**
 * A result that asks for a payment, or says why one was refused. Clients check structured content against a tool's output
 * schema, so a tool that has one gets the text alone, which x402 requires.
 */
export function paymentRequired(
  { name, description, instructions, schedule }: Asked,
  error: string,
  options: {
    readonly structured: boolean;
    readonly refused: boolean;
    readonly retryAfter?: number | undefined;
    /** Of the paywall's methods. */
    readonly offers: Json;
  },
): CallToolResult {
  const { structured, refused, retryAfter, offers } = options;
  const requirements = requirementsOf(instructions);
  const { network } = requirements;
  const required: PaymentRequired = {
    x402Version: X402_VERSION,
    error,
    resource: { url: toolUrl(name), ...(description === undefined ? {} : { description }) },
    accepts: [requirements],
  };
  const failure = { success: false, errorReason: "invalid_payload", errorMessage: error, transaction: "", network };
  const meta = {
    ...(retryAfter === undefined ? {} : { [RETRY_KEY]: retryAfter }),
    ...(schedule === undefined ? {} : { [SCHEDULE_KEY]: schedule }),
    ...(Object.keys(offers).length === 0 ? {} : { [OFFERS_KEY]: offers }),
  };
  const data = refused ? { ...required, [RESPONSE_KEY]: failure } : required;
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify({ [ERROR_KEY]: { code: 402, message: error, data } }) }],
    ...(structured ? { structuredContent: { ...data } } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isRequired = (value: unknown): value is PaymentRequired & Json =>
  isObject(value) && typeof value["x402Version"] === "number" && Array.isArray(value["accepts"]);

/** Largest text that is searched for a PaymentRequired, characters. */
const MAX_TEXT = 64 * 1024;

function parsed(text: string): unknown {
  if (text.length > MAX_TEXT || !text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The PaymentRequired of a result, in the order in which x402 tells clients to look. */
export function paymentRequiredOf({
  isError,
  structuredContent,
  content,
}: CallToolResult): PaymentRequired | undefined {
  if (isError !== true) return undefined;
  const [first] = content;
  const text = first?.type === "text" ? parsed(first.text) : undefined;
  const wrapped = (value: unknown): unknown => {
    const error = isObject(value) ? value[ERROR_KEY] : undefined;
    return isObject(error) ? error["data"] : undefined;
  };
  return [structuredContent, wrapped(structuredContent), text, wrapped(text)].find(isRequired);
}
