// Apart from the decoder, which imports a curve: the second thread needs only the orders.
export {
  /** Order q of BN254's base field, the field of coordinates. */
  BASE_FIELD_MODULUS as BASE_FIELD_ORDER,
  /** Order r of BN254's groups, and so of the circuits' field, the field of signals. */
  FIELD_MODULUS as SCALAR_FIELD_ORDER,
} from "@sotto/protocol/base";
