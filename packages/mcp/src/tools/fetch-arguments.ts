import { MAX_URL_LENGTH } from "@sotto/protocol";
import { z } from "zod";
import { AgentError } from "../errors.ts";

const MAX_BODY_CHARACTERS = 65_536;
const MAX_HEADERS = 16;
const MAX_HEADER_CHARACTERS = 1_024;
export const TIMEOUT_MS = 120_000;

/** Request headers that a call may set. The others could carry credentials, or change how a server answers a payment. */
const HEADERS = [
  "accept",
  "accept-language",
  "content-language",
  "content-type",
  "if-modified-since",
  "if-none-match",
  "range",
];

const BASE_UNITS_FORM = 'must be base units as decimal text, such as "50000"';
export const BASE_UNITS = z.string(BASE_UNITS_FORM).regex(/^(?:0|[1-9][0-9]{0,19})$/, BASE_UNITS_FORM);
export const KEY = z.string().min(1).max(128);
export const TIMEOUT = z.number().int().min(1_000).max(600_000);

export const FETCH_ARGUMENTS = {
  url: z.string().min(1).max(MAX_URL_LENGTH).describe("an https URL"),
  method: z
    .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    .optional()
    .describe("default: GET, or POST with a body"),
  headers: z
    .record(z.string().max(64), z.string().max(MAX_HEADER_CHARACTERS))
    .optional()
    .describe(`allowed: ${HEADERS.join(", ")}`),
  body: z.string().max(MAX_BODY_CHARACTERS).optional(),
  max_amount: BASE_UNITS.optional().describe(
    "highest price for this call, base units; default: the wallet's own limit",
  ),
  quote_only: z.boolean().optional().describe("only asks for the price; pays nothing"),
  idempotency_key: KEY.optional().describe(
    "names this purchase: a repeated call with the same key is never paid twice",
  ),
  timeout_ms: TIMEOUT.optional().describe(`default ${TIMEOUT_MS}; waiting for a person's approval does not count`),
};
const FETCH_OBJECT = z.object(FETCH_ARGUMENTS);
export type FetchArguments = z.infer<typeof FETCH_OBJECT>;

/** @throws AgentError ARGUMENT_INVALID */
export function requestOf({ method, headers = {}, body }: FetchArguments): RequestInit & { method: string } {
  const verb = method ?? (body === undefined ? "GET" : "POST");
  if (body !== undefined && (verb === "GET" || verb === "HEAD"))
    throw new AgentError("ARGUMENT_INVALID", `a ${verb} request has no body`);
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw new AgentError("ARGUMENT_INVALID", `at most ${MAX_HEADERS} headers`);
  const checked: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (!HEADERS.includes(name.toLowerCase()))
      throw new AgentError("ARGUMENT_INVALID", `headers may only contain ${HEADERS.join(", ")}`);
    if (!/^[\t\x20-\x7e]*$/.test(value))
      throw new AgentError("ARGUMENT_INVALID", "a header's value must be printable ASCII");
    checked[name.toLowerCase()] = value;
  }
  return { method: verb, headers: checked, body: body ?? null };
}
