/**
 * Entry `@sotto/protocol/extend`: what packages that extend the protocol with formats of their own need to read and refuse
 * values, match routes, encode bytes and build typed data as the protocol does. Applications need none of it.
 */
export { decodeBase64url, encodeBase64url } from "./base64url.ts";
export {
  type StructField,
  type StructFields,
  structDigest,
  type TypedData,
  typedDataOf,
  typedDataRequest,
} from "./binding/eip712.ts";
export { recoverSigner } from "./binding/recover.ts";
export { describe, fail, type ProtocolErrorCode, recode } from "./errors.ts";
export { bigIntToBytes, bytesToBigInt, concatBytes } from "./hex.ts";
export { parseHttpUrl } from "./object-fields.ts";
export { PAYMENT_FIELDS } from "./payment/bundle.ts";
export { compressMany } from "./poseidon/hash.ts";
export { permuteMany } from "./poseidon/permutation.ts";
export {
  assertField,
  assertInteger,
  assertObject,
  assertText,
  parseAmount,
  parseBaseField,
  parseField,
} from "./validate.ts";
export { type AuthScheme, authSchemes, isAuthScheme } from "./wire/auth-header.ts";
export { urlOf } from "./wire/base-url.ts";
export { isFieldName } from "./wire/field-name.ts";
export {
  includesMethod,
  matchesPath,
  matchesPathLoosely,
  ORIGIN_FORM,
  parseRoutePath,
  type RoutePath,
} from "./wire/route-path.ts";
export { type JsonProblem, readStrictJson } from "./wire/strict-json.ts";
