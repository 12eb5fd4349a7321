export {
  addPoints,
  BASE8,
  IDENTITY,
  isInSubgroup,
  isOnCurve,
  multiplyPoint,
  negatePoint,
  type Point,
  pointFromX,
  SUBGROUP_ORDER,
} from "./curve/babyjub.ts";
export { packPoint, unpackPoint } from "./curve/codec.ts";
export { montgomeryEighth, toMontgomery } from "./curve/montgomery.ts";
export { formatDecimalAmount, parseDecimalAmount } from "./decimal.ts";
export { type ErrorDetails, PROTOCOL_ERROR_CODES, type ProtocolErrorCode, SottoError } from "./errors.ts";
export { FIELD_MODULUS, toField } from "./field.ts";
export { bytesToHex, hexToBytes } from "./hex.ts";
export { DOMAIN, hashNode, poseidon, poseidonEx, TREE_ARITY } from "./poseidon/hash.ts";
export { expectAmount, expectField, expectUint, MAX_AMOUNT, parseAmount, parseField } from "./validate.ts";
