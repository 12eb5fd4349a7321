// Checks of requests. The HTTP layer has checked them too, but other code may call the registry.
import { RegistryError } from "../errors.ts";

const PHONE = /^\+[1-9][0-9]{4,14}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const KEY = /^0x[0-9a-f]{128}$/;
const CODE = /^[0-9]{6}$/;
/** 8 KiB, because signatures of contract wallets that are not deployed yet contain the deploying call. */
const MAX_SIGNATURE_LENGTH = 2 + 2 * 8192;
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2})+$/;
const MAX_NAME_LENGTH = 256;

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  phone: (value) => typeof value === "string" && PHONE.test(value),
  wallet: (value) => typeof value === "string" && ADDRESS.test(value),
  caller: (value) => value === undefined || (typeof value === "string" && ADDRESS.test(value)),
  key: (value) => typeof value === "string" && KEY.test(value),
  signature: (value) => typeof value === "string" && value.length <= MAX_SIGNATURE_LENGTH && SIGNATURE.test(value),
  issuedAt: (value) => value === undefined || isSeconds(value),
  deadline: isSeconds,
  code: (value) => typeof value === "string" && CODE.test(value),
  client: isName,
  nonce: isName,
};

function isSeconds(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 100_000_000_000;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length >= 1 && value.length <= MAX_NAME_LENGTH;
}

/** @throws RegistryError INVALID_REQUEST naming the field, never its value */
export function assertFields<T extends object>(request: T, ...fields: (keyof T & string)[]): void {
  if (typeof request !== "object" || request === null)
    throw new RegistryError("INVALID_REQUEST", "the request is not an object", { field: "" });
  for (const field of fields)
    if (!FORMS[field]!(request[field]))
      throw new RegistryError("INVALID_REQUEST", `${field} is missing or malformed`, { field });
}
